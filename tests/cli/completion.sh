# Each shell offers the commands, options and words that the command takes, and nothing else: with what
# `perfile completion` writes, and with the scripts that are installed, which are the same.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
failed=0
for shell in bash zsh fish; do
    "$PERFILE" completion "$shell" >"script.$shell" || failed=1
    cmp "script.$shell" "$(find "$PERFILE_BUILD/completions/$shell" -type f)" || failed=1
    if ! command -v "$shell" >/dev/null; then
        echo "not tried: $shell is not installed"
        continue
    fi
    mkdir "$shell"
    (cd "$shell" && HOME=$PWD python3 "$PERFILE_SOURCE/tests/cli/completion.py" "$shell" "../script.$shell") || failed=1
done
# A description is not one of the words that the option takes, as in "folded: a line for each stack".
python3 - script.fish <<'END' || failed=1
import re, sys
options = wrong = 0
for line in open(sys.argv[1]):
    found = re.search(r" -l (\S+).* -a '([^']*)' -d '([^']*)'", line)
    if found:
        options += 1
        first = re.split("[:;,]| \\(", found[3])[0]
        if first in found[2].split():
            print("fish describes", found[1], "as", found[3])
            wrong += 1
sys.exit(wrong or options < 20)
END
"$PERFILE" completion tcsh 2>err && failed=1
grep -q "completion takes bash, zsh or fish, not 'tcsh'" err || failed=1
"$PERFILE" completion 2>/dev/null && failed=1
"$PERFILE" completion --help | grep -q '^Usage: perfile completion bash|zsh|fish$' || failed=1

# The manual pages have the options that the table has.
mkdir man
cp "$PERFILE_SOURCE"/src/cli/man/*.1 man/
bash "$PERFILE_SOURCE/src/cli/man/update.sh" "$PERFILE" man
diff -ru -x '*.sh' "$PERFILE_SOURCE/src/cli/man" man || { echo "run src/cli/man/update.sh $PERFILE"; failed=1; }
sed -i '/BEGIN made of/,/END made of/{/first/d; s/top/pot/}' man/perfile-stats.1
cmp -s man/perfile-stats.1 "$PERFILE_SOURCE/src/cli/man/perfile-stats.1" && failed=1
bash "$PERFILE_SOURCE/src/cli/man/update.sh" "$PERFILE" man
cmp man/perfile-stats.1 "$PERFILE_SOURCE/src/cli/man/perfile-stats.1" || failed=1
exit "$failed"
