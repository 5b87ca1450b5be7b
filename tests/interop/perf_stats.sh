# `perf report --stats` and `perfile stats` agree: how many records of each type, how many in all, and
# how many samples of each event; of our captures, of those of $PERFILE_CORPUS, and of some that are
# recorded here, where perf can record.
#
# What is comparable was found out with perf 6.1: every type, envelopes (COMPRESSED) included, and
# TOTAL, for whatever perf reads to its end.  Differences in words only: perf writes ATTR, FEATURE,
# BUILD_ID … for HEADER_ATTR, HEADER_FEATURE, HEADER_BUILD_ID.  It says in words only that it did
# not come to the end, often with exit status 0.  Two quirks are allowed for:
# - Of pipes with tracing data or compressed records perf 6.1 reads everything with `perf script -D`
#   but not with `perf report --stats`.  Where the latter fails the former is asked; it prints a line
#   for each record except envelopes.
# - Samples per event: with {…}:S perf makes samples of the group's other members out of the read
#   values.  Then its events add up to more samples than it has records of that type, and are not
#   compared.  Names of events are not compared here: perf appends modifiers (:HG).
set -u
for tool in perf jq; do
    if ! command -v "$tool" >/dev/null; then
        echo "$tool is not installed"
        exit 77
    fi
done
export HOME=$PWD
failed=0 compared=0 by_script=0 events=0 skipped=0

# perf_counts FILE: "TYPE COUNT" lines to ./perf, samples per event to ./perf-events; or fails with a
# reason in ./why.
perf_counts() {
    perf report --stats -i "$1" >report 2>errors </dev/null
    local status=$?
    if [ "$status" = 0 ] && grep -q TOTAL report && ! grep -qE "$incomplete" errors; then
        awk '/^Aggregated stats:/ { ours = 1; next }
             ours && / stats:$/ { exit }
             ours && $2 == "events:" { print $1, $3 }' report | sort >perf
        awk '/^Aggregated stats:/ { next }
             / stats:$/ { event = 1 }
             event && $1 == "SAMPLE" { print $3 }' report | sort -n >perf-events
        return 0
    fi
    perf script -D -i "$1" >script 2>errors </dev/null
    status=$?
    : >perf-events
    if [ "$status" = 0 ] && ! grep -qE "$incomplete" errors; then
        grep -aE '^(0x)?[0-9a-f]+@.* \[(0x)?[0-9a-f]+\]: event: [0-9]+$' script |
            sed 's/.*: event: //' | sort | uniq -c | awk '{ print "type" $2, $1 }' | sort >perf
        by_script=$((by_script + 1))
        return 0
    fi
    grep -m 1 -aE "$incomplete" errors >why || echo "exit status $status" >why
    return 1
}
incomplete='failed|rror:|Couldn|unexpected|incompatible|was the|not terminated'

# our_counts FILE: the same of perfile, with types as ./perf names them.
our_counts() {
    "$PERFILE" stats --json "$1" >json 2>errors
    case $? in
    0 | 3) ;; # 3: damage in what perf did not look at, such as a feature
    *) return 1 ;;
    esac
    if grep -q ^type perf; then
        jq -r '.rows[] | select(.type_number != 81 and .type_number != 83)
            | "type\(.type_number) \(.records)"' json | sort >perfile
    else
        jq -r '(.rows[] | "\(.type | sub("^HEADER_"; "")) \(.records)"), "TOTAL \(.total.records)"' \
            json | sort >perfile
    fi
    "$PERFILE" stats --json --by event --type sample "$1" 2>>errors |
        jq -r '.rows[].records' | sort -n >perfile-events
}

compare() { # compare FILE NAME
    if ! perf_counts "$1"; then
        echo "skipped $2: perf does not read it to its end: $(head -c 200 why)"
        skipped=$((skipped + 1))
        return
    fi
    compared=$((compared + 1))
    if ! our_counts "$1"; then
        echo "FAILED $2: perf reads it to its end, perfile does not:"
        cat errors
        failed=1
        return
    fi
    if ! diff -u perf perfile >difference; then
        echo "FAILED $2:"
        cat difference
        failed=1
    fi
    local samples
    samples=$(awk '$1 == "SAMPLE" { print $2 }' perf)
    if [ -s perf-events ] && [ "$(awk '{ n += $1 } END { print n }' perf-events)" = "$samples" ]; then
        events=$((events + 1))
        if ! diff -u perf-events perfile-events >difference; then
            echo "FAILED $2, samples of each event:"
            cat difference
            failed=1
        fi
    fi
}

cd "$PERFILE_SOURCE/samples/captures" || exit 1
captures=(*.data)
cd "$HOME" || exit 1
for capture in "${captures[@]}"; do
    compare "$PERFILE_SOURCE/samples/captures/$capture" "samples/captures/$capture"
done

if [ -f "$PERFILE_CORPUS/MANIFEST.tsv" ]; then
    while IFS=$'\t' read -r capture _; do
        case $capture in
        file | *.data/?*) ;; # the heading; parts of a directory
        *) compare "$PERFILE_CORPUS/${capture%/}" "$capture" ;;
        esac
    done <"$PERFILE_CORPUS/MANIFEST.tsv"
else
    echo "skipped the corpus: there is none at \$PERFILE_CORPUS"
fi

# recorded NAME OPTION ...: records a small workload and compares.
recorded() {
    local name=$1
    shift
    if ! perf record -q -N "$@" -o "$name" -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' \
        >"$name.pipe" 2>errors </dev/null; then
        echo "skipped recording $name: $(head -n 1 errors)"
        skipped=$((skipped + 1))
        return
    fi
    compare "$name" "recorded: $name"
}
recorded cpu-clock -e cpu-clock
recorded chains -e task-clock -g
recorded stacks -e cpu-clock -c 1000000 --call-graph dwarf,1024
recorded group -e '{cpu-clock,page-faults}:S'
recorded several -e cpu-clock,page-faults,context-switches -W -d --switch-events
recorded mixed -e cpu-clock/call-graph=fp/,page-faults/call-graph=no/
recorded tracepoint -e sched:sched_process_exit
recorded zstd -z -e cpu-clock -g
recorded threads --threads -e cpu-clock
if perf record -q -N -e cpu-clock -o - -- sh -c : 2>errors </dev/null | cat >pipe; [ -s pipe ]; then
    compare pipe "recorded: pipe"
else
    echo "skipped recording a pipe: $(head -n 1 errors)"
    skipped=$((skipped + 1))
fi

# This test can fail: the counts of two different captures differ.
perf_counts "$PERFILE_SOURCE/samples/captures/callgraph.data" &&
    our_counts "$PERFILE_SOURCE/samples/captures/cpu-clock.data"
if cmp -s perf perfile || cmp -s perf-events perfile-events; then
    echo "FAILED: the comparison does not tell two captures apart"
    failed=1
fi

echo "$compared captures compared ($by_script with perf script, $events by event too), $skipped skipped"
if [ "$compared" -lt 18 ]; then
    echo "FAILED: perf reads at least 18 of our own captures"
    failed=1
fi
exit "$failed"
