# What is made from a compressed capture is compressed as it was, unless an option or the form says otherwise.
set -u
captures=$PERFILE_SOURCE/samples/captures
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
. "$PERFILE_SOURCE/tests/cli/run.inc"
cp "$captures"/{zstd,pipe-zstd,cpu-clock}.data .
# what FILE: the level that its feature COMPRESSED says, and what it holds.
what() {
    "$PERFILE" dump "$1" 2>/dev/null | awk '
        /feat_id|feature/ { is = / COMPRESSED$/ } is && /^ *level / { level = $2 }
        /^0x.* COMPRESSED +[0-9]+$/ { envelopes++ } /^[| ]*0x.* SAMPLE +[0-9]+/ { samples++ }
        END { print "level " level + 0 ", " (envelopes ? "" : "not ") "compressed, " samples " samples" }'
}
for capture in zstd pipe-zstd cpu-clock; do
    for command in "filter --type sample" sort "split --records 1000000" "merge --align start cpu-clock.data"; do
        echo "$capture, $command"
        for how in "--to perf.data" "--to perf.data --decompress" "--to perf.data --compress=7" "--to pipe" \
            "--to pipe --compress" "--to archive"; do
            # shellcheck disable=SC2086
            "$PERFILE" $command $how -f -o "out%d" "$capture.data" 2>/dev/null
            printf '%-32s' "$how"
            what out*
            rm out*
        done
    done
done
run filter --compress --decompress -o no zstd.data
run sort --compress=23 -o no zstd.data
run merge --decompress --compress -o no zstd.data zstd.data
"$PERFILE" convert --to dir -o d zstd.data 2>/dev/null
run filter --type sample -o of_directory d
what of_directory
# The highest level has tables of 640 MB in zstd by default.
python3 - <<'END'
import os, resource, subprocess
subprocess.run([os.environ["PERFILE"], "convert", "--compress=22", "-o", "highest", "cpu-clock.data"],
               check=True, stderr=subprocess.DEVNULL)
kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print("level 22 takes", "too much memory" if kilobytes > 400 << 10 else "little memory")
END
exit 0
