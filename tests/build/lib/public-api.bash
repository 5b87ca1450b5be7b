# Sourced by the scripts here.

# declared_api INCLUDE: the names that the headers below INCLUDE/perfile declare with PERFILE_API,
# sorted.  The macro becomes a mark in a copy, then the preprocessor says what is really declared.
declared_api() {
    local copy
    copy=$(mktemp -d)
    cp -RL "$1/perfile" "$copy/perfile"
    sed -i -E 's/^([[:space:]]*#[[:space:]]*define[[:space:]]+PERFILE_API)([[:space:]].*)?$/\1 PERFILE_API_MARK/' \
        "$copy"/perfile/*.h
    for header in "$copy"/perfile/*.h; do
        printf '#include <perfile/%s>\n' "${header##*/}"
    done | "$PERFILE_CC" -std=c11 -E -P -I"$copy" -x c - |
        tr '\n' ' ' |
        grep -o 'PERFILE_API_MARK[^;{]*' |
        sed -E -e 's/__attribute__ *\(\(([^()]|\(([^()]|\([^()]*\))*\))*\)\)//g' \
            -e 's/[[(=].*//' -e 's/ +$//' -e 's/.*[^A-Za-z0-9_]//' |
        sort -u
    rm -rf "$copy"
}
