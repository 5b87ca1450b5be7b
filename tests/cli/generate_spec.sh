# `perfile generate --spec`: a capture that a text describes has what the text says, and its dump is the one that was meant; the
# capture of a dump in CBOR; wrong descriptions are errors that name the line.
set -u
expected() {
    "$PERFILE" generate -f "$@" -o a.data --expect a.jsonl >said || cat said
    "$PERFILE" dump --format jsonl a.data | cmp - a.jsonl || echo "$*: not what was meant"
}

cat >mine <<'END'
seed 7                     # settings
to pipe
byte-order big
attr-size 96
event type=software sample_type=IP,TID,TIME,CALLCHAIN,ID flags=sample_id_all,precise_ip:2 ids=5,6
event type=hardware sample_freq=4000 sample_type=IP,TID,TIME,CALLCHAIN,ID flags=sample_id_all,freq ids=9

record COMM pid=7 comm="two words" sample_id.time=1000
record MMAP2 2 pid=0x7 filename="/bin/\xff\"a b" prot=read,exec
record MMAP2 build_id=0102030405060708090a0b0c0d0e0f1011121314
record SAMPLE 3 pid=7 attr=0 callchain=0xffffffffffffff80,0x2000
record SAMPLE misc=2 id=9 attr=1
record THREAD_MAP entries[2].comm=x entries[0].pid=-1
feature HOSTNAME string=demo
feature CMDLINE cmdline=perf,record,"a, b"
feature NRCPUS nr_cpus_avail=2
feature CPU_TOPOLOGY
END
expected --spec mine
sed -n 's/^perfile: //p' said
"$PERFILE" validate --severity error a.data >findings || cat findings
md5sum <a.data
sed -n 's/.*"name":"PERF_RECORD_\(COMM\|MMAP2\|SAMPLE\|THREAD_MAP\)",\("misc":[0-9]*\),"size":[0-9]*,/\1 \2 /p' a.jsonl | cut -c 1-220
"$PERFILE" info --header a.data | grep -E "^(file|form|host|command)"
expected --spec - <mine && md5sum <a.data

# The example of the help; compressed records and a directory, described.
"$PERFILE" generate --help | sed -n '/^  seed 7/,/^  feature/p' >example
grep -c . example && expected --spec example
printf 'byte-order big\nto dir\ncompressed2 3\nrecord SAMPLE 40\nrecord COMM\nfeature VERSION\n' >dir
rm -rf a.data && expected --spec dir && ls a.data && rm -rf a.data
# In big-endian files the writer adds HOSTNAME for readers of features with high numbers: it is in the dump as well.
printf 'byte-order big\nfeature E_MACHINE\nrecord none\n' >high && expected --spec high

# AUX data of a given size; in files a feature lists the records, and validation finds that it lists all of them.
printf 'record AUXTRACE_INFO type=intel_pt\nrecord AUXTRACE 3 size=65536\nrecord AUXTRACE size=0\nrecord COMM\nfeature none\n' >traced
for words in "" "--byte-order big" "--to pipe" "--to dir --compress"; do
    rm -rf a.data
    expected --spec traced $words
    "$PERFILE" validate a.data | grep -E 'V-(51[12]|60[78])'
    grep -c '"name":"PERF_RECORD_AUXTRACE".*"payload":{"offset":"[0-9]*","size":"65536"' a.jsonl
    sed -n 's/.*"name":"AUXTRACE",.*"data":\({.*}\)}$/\1/p' a.jsonl
done
rm -rf a.data

# Bits may be joined by | as well, and names be in lower case; in a list of numbers only | joins.
printf 'event type=%s sample_type=%s\nrecord MMAP2 prot=%s\nfeature none\n' software IP,TID,TIME read,exec >upper
printf 'event type=%s sample_type=%s\nrecord MMAP2 prot=%s\nfeature none\n' SOFTWARE 'ip|tid|time' 'read|exec' >lower
expected --spec upper && cp a.data b.data && expected --spec lower && cmp a.data b.data

# A file of version 1.
printf 'to v1\nrecord SAMPLE 2\n' >old && expected --spec old && "$PERFILE" info a.data | grep '^form'

printf 'to simpleperf\nrecord SIMPLEPERF_EVENT_ID\nrecord SIMPLEPERF_DSO name=/x\nfeature META_INFO entries[4].key=a\n' >android
expected --spec android && tail -n 3 a.jsonl | cut -c 1-80

# Options win over the text.
expected --spec mine --to perf.data --byte-order little --seed 8 && "$PERFILE" info a.data | grep '^form'
# What no statement says is as without a description; nothing at all can be asked for.
echo >empty && expected --spec empty && "$PERFILE" generate -f -o b.data >said && cmp a.data b.data
printf 'record none\nfeature none\n' >none && expected --spec none && tail -n 1 a.jsonl
# Every type and every feature by its name; records of all types with a value for each.
"$PERFILE" dump --format jsonl b.data | sed -n 's/.*"name":"PERF_RECORD_\([A-Z0-9_]*\)".*/record \1 2/p' | sort -u >all
printf 'feature %s\n' HOSTNAME VERSION NUMA_TOPOLOGY EVENT_DESC >>all && expected --spec all && tail -n 1 a.jsonl
# Attrs that are longer than the tables, with the features that repeat them.
printf 'attr-size 160\nrecords 1\n' >long && expected --spec long
# Control characters.
for c in $(seq 1 31) 127; do
    printf "record COMM comm=\"a\\\\x%02x\"\n" "$c"
done >control && expected --spec control && grep -c '"comm":"a\\' a.jsonl

# The capture of a dump in CBOR is the one that `convert --from cbor` makes.
"$PERFILE" dump --format cbor b.data >b.cbor
"$PERFILE" generate -f --spec b.cbor -o c.data && "$PERFILE" convert -f --from cbor -o d.data b.cbor && cmp c.data d.data

wrong() {
    rm -f new.data
    "$PERFILE" generate --spec "$@" -o new.data >text 2>&1
    echo "exit status $?: $(head -n 1 text)"
}
n=0
while IFS= read -r line; do
    printf 'seed 1\n%b\n' "$line" >"wrong$((++n))"
    wrong "wrong$n"
done <<'END'
evnt type=software
seed x
seed 1 2
to archive
to pip
attr-size 63
records 0
event size=64
event type=softwar
event flags=inherit,precise:2
event flags=precise_ip:4
event sample_type=ip|tdi
record MMAP2 pid=1|2
event sample_type=TIME ids=
event sample_type=TID\nevent sample_type=IP
event sample_type=IP\nrecord SAMPLE tid=3
event sample_type=TIME,ID ids=3\nrecord SAMPLE id=4
record
record SAMPEL
record HEADER_ATTR
record SAMPLE 0
record SAMPLE attr=9
record SAMPLE ip
record SAMPLE ip=-
record SAMPLE pid=0x100000000
record SAMPLE ip=1,2
record SAMPLE ip=1 ip=1
record SAMPLE sample_id.time=1
record SAMPLE branch_stack=1
record SAMPLE branch_stack.lbr[0]=1
record SAMPLE branch_stack.lbr[4096].from=1
record SAMPLE ip.x=1
record MMAP2 pdi=7
record MMAP2 filename="a
record MMAP2 filename="\\q"
record MMAP2 build_id=012
record MMAP2 misc=0x4002 ino=7
record MMAP2 filename=a\0000b
record none\nrecord SAMPLE\nrecord none
feature HOSTNAM
feature HOSTNAME string=a\nfeature HOSTNAME
feature AUXTRACE
record AUXTRACE size=65537
record SIMPLEPERF_DSO
record SIMPLEPERF_DSO misc=1
feature TRACING_DATA data=00
END
wrong no-such-file
wrong mine --matrix new
wrong b.cbor --expect x
wrong b.cbor --to pipe
"$PERFILE" dump --format jsonl b.data >b.jsonl && wrong b.jsonl
# A tracepoint is described, in files and pipes of both byte orders: a given payload, and one from the seed.
raw=0000000003000000706572660000000000000000000000000000002a
for words in "" "--to pipe" "--byte-order big" "--byte-order big --to pipe"; do
    printf 'event type=2 config=314 sample_type=RAW\nrecord SAMPLE\nrecord SAMPLE raw=%s\nfeature none' $raw >traced
    "$PERFILE" generate -f --spec traced $words -o b.data --expect b.jsonl >text &&
        "$PERFILE" dump --format jsonl b.data | cmp - b.jsonl
    "$PERFILE" dump --format jsonl --resolve b.data | grep -o '"tracepoint":{[^}]*}' | tail -n 2
done
cp mine kept && "$PERFILE" generate -f --spec mine -o mine >text 2>&1
echo "exit status $?: $(head -n 1 text)" && cmp mine kept
[ -e new.data ] || echo "nothing is left of a failure"
