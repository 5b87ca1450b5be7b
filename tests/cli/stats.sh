# stats by every key.
here=$PWD
cd "$PERFILE_SOURCE/samples/captures"
for by in type event cpu pid tid comm time=1ms type,comm; do
    "$PERFILE" stats --by $by cpu-clock.data || exit
    echo
done
"$PERFILE" stats --by cpu --by type --type sample,32768 --sort bytes fields.data
"$PERFILE" stats --by time=500us --sort key cpu-clock.data
"$PERFILE" stats --raw zstd.data
"$PERFILE" stats --json --by event,cpu group.data

# By function: samples only, with those in call chains.
cd "$PERFILE_SOURCE/samples/captures"
for options in "--by dso,sym --top 3" "--by comm --total" "--sort total --by sym --comm child --top 3" \
    "--by sym,parent --json --top 1" "--total --by event,pid,tid,cpu --sort key" "--by event,sym --sort samples --top 2"; do
    echo "--no-symbols $options"
    "$PERFILE" stats --no-symbols $options callgraph.data group.data
done
"$PERFILE" stats --no-symbols --by sym --unknown module callgraph.data
for options in "--unknown module" "--by srcline --unknown module" "--by sym --unknown none" "--by sym,time" "--by sym,type" "--by sym --sort bytes" "--sort total" "--parent x" "--by parent --parent ("; do
    "$PERFILE" stats $options callgraph.data 2>&1
    echo "$options: exit status $?"
done
"$PERFILE" stats --no-symbols --by sym truncated-record.data 2>&1
echo "exit status $?"

# Losses are of the whole recording: of a selection there is no percentage.
cd "$here"
python3 - "$PERFILE_SOURCE/samples/captures/pipe.data" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
trailer = struct.pack("<IIQ", 1, 1, 1)
open("lost.data", "wb").write(data + struct.pack("<IHHQ", 13, 0, 16 + len(trailer), 58) + trailer)
END
"$PERFILE" stats lost.data | grep '^lost'
"$PERFILE" stats --type lost_samples lost.data | grep '^lost'

# The default of --parent: system calls and page faults of kernels old and new.
for names in "__x64_sys_read exc_page_fault" "sys_read do_page_fault" "__arm64_sys_read __do_sys_read"; do
    set -- $names
    printf 'ffffffff81000000 T entry\nffffffff8142b000 T %s\nffffffff8142c000 T vfs_read\nffffffff82100000 T %s\n' "$1" "$2" >kallsyms
    printf 'ffffffff83000000 T end\n' >>kallsyms
    "$PERFILE" stats --by parent --kallsyms kallsyms "$PERFILE_SOURCE/samples/captures/callgraph.data"
done

# Call trees, callers, callees, and two captures compared.
callgraph=$PERFILE_SOURCE/samples/captures/callgraph.data
for options in "--tree --top 2" "--tree --sort total --depth 3 --width 1 --min 10% --top 2" "--tree=callers --sort total --by dso --top 2 --min 20" \
    "--tree=callees --by comm --depth 2" "--callers [work+0x127a]" "--callers [work+0x127a] --tree --by dso,sym --min 0" \
    "--callees [work+0x1218] --tree" "--callees nothing" "--callers [work+0x1218] --by tid --json" \
    "--tree --by sym --json --top 1 --depth 1" "--compare $PERFILE_SOURCE/samples/captures/cgroup.data" \
    "--compare $PERFILE_SOURCE/samples/captures/cgroup.data --by pid --sort ratio" \
    "--compare $PERFILE_SOURCE/samples/captures/cgroup.data --by dso,sym --json --top 1"; do
    echo "$options" | sed "s|$PERFILE_SOURCE|SOURCE|"
    "$PERFILE" stats --no-symbols $options "$callgraph" 2>&1 | sed "s|$PERFILE_SOURCE|SOURCE|g"
done
for options in "--min 5" "--tree --min 101" "--tree --depth 0" "--tree --width x" "--tree=nobody" "--tree --compare x" "--callers a --callees b" \
    "--sort delta" "--callers a --tree=callees" "--compare x --by type" "--tree --by time" "--compare missing.data"; do
    "$PERFILE" stats $options "$callgraph" 2>&1
    echo "$options: exit status $?"
done
