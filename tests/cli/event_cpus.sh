# Processors of an event's PMU, from EVENT_UPDATE: a list, a range, a mask.
capture=$PERFILE_SOURCE/samples/captures/pipe.data
update() { # update SIZE BYTES: the capture with such a record after its header, about id 932
    head -c 168 "$capture"
    printf '\x4e\0\0\0\0\0'"$1"'\0\x03\0\0\0\0\0\0\0\xa4\x03\0\0\0\0\0\0'"$2"
    tail -c +169 "$capture"
}
update '\x28' '\0\0\x04\0\0\0\x01\0\x02\0\x07\0\0\0\0\0' >list.data
update '\x20' '\x02\0\0\0\x04\0\x06\0' >range.data
update '\x30' '\x01\0\x01\0\x08\0\0\0\0\0\x0d\0\0\0\0\0\0\x80\0\0\0\0\0\0' >mask.data
for form in list range mask; do
    "$PERFILE" list events -v $form.data | grep '  cpus:'
    "$PERFILE" list events --json $form.data | grep -o '"cpus":[^]]*]'
done
"$PERFILE" list events -v "$capture" | grep -c '  cpus:' || true
