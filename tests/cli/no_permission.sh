# A file that must not be read.
if [ "$(id -u)" = 0 ]; then
    echo "root may read everything"
    exit 77
fi
cp "$PERFILE_SOURCE/samples/captures/cpu-clock.data" secret
chmod 000 secret
"$PERFILE" info secret
