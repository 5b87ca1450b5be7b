#!/bin/bash
# Captures of the same command on machines of the other byte order, word size or architecture say the
# same where the machine has no say: every field of the attrs, which records there are, the fields of each, and
# the names that processes took.  (The values that differ are compared with their expected dumps.)
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs jq
[ -d "$PERFILE_CORPUS/recorded" ] || { echo "no captures in $PERFILE_CORPUS"; exit 77; }

facts() {
    "$PERFILE" dump --format jsonl "$PERFILE_CORPUS/recorded/$1" | jq -c '
        def kernel: .kind == "record" and .type < 64;
        if .kind == "header" then {magic: .version, format}
        elif .kind == "attr" then {attr: .attr}
        elif kernel and .type == 3 and (.misc / 8192 | floor % 2) == 1 then {comm: .body.comm}
        elif kernel then {name, body: (.body | keys), sample_id: (.sample_id // {} | keys)}
        else empty end' | sort -u
}

status=0
while read -r name one other; do
    facts "$one/$name.data" >one
    facts "$other/$name.data" >other
    if [ "$(wc -l <one)" -lt 4 ] || ! cmp -s one other; then
        echo "$one/$name.data and $other/$name.data differ"
        diff one other | head -n 4 || true
        status=1
    fi
done <<'END'
bpf s390x-6.1 x86_64-6.1
inject-b s390x-6.1 x86_64-6.1
mini-noident s390x-6.1 x86_64-6.1
mini-read-group s390x-6.1 x86_64-6.1
namespaces s390x-6.1 x86_64-6.1
cpuclock i686-6.1 x86_64-6.1
group-S3 i686-6.1 x86_64-6.1
mini-noid i686-6.1 x86_64-6.1
pipe i686-6.1 x86_64-6.1
stat i686-6.1 x86_64-6.1
mini-noall aarch64-6.12 x86_64-6.1
END
exit "$status"
