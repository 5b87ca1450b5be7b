#!/bin/bash
# debian.sh FOLDER [BUILD]: makes the Debian packages perfile, perfile-symbolizer, libperfileX.Y and libperfile-dev in FOLDER.
#
# BUILD is a folder in which perfile is built.  Without it a release is built in FOLDER/build.  Needs dpkg-dev.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: debian.sh FOLDER [BUILD]}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
build=${2:-}
if [ -z "$build" ]; then
    build=$folder/build
    cmake -S "$source" -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
        -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" -DPERFILE_BUILD_TESTS=OFF -DPERFILE_BUILD_SAMPLES=OFF
    cmake --build "$build"
fi
version=$(sed -nE 's/^#define PERFILE_VERSION_(MAJOR|MINOR|PATCH) +([0-9]+)$/\2/p' "$source/include/perfile/version.h" | paste -sd.)
interface=${version%.*}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

DESTDIR=$work/all cmake --install "$build" --prefix /usr --strip >"$work/log" || { cat "$work/log" >&2; exit 1; }
find "$work/all/usr/share/man" -type f -exec gzip -9n {} +

# move PACKAGE PATTERN...: moves what the patterns match from the installed tree to a package.
move() {
    local package=$1 path
    shift
    for path in "$@"; do
        for path in "$work"/all/usr/$path; do # a pattern may match several files
            [ -e "$path" ] || continue
            install -d "$work/packages/$package$(dirname "${path#"$work/all"}")"
            mv "$path" "$work/packages/$package${path#"$work/all"}"
        done
    done
}

# needs PACKAGE: the packages of the libraries that its programs and libraries are linked with.
needs() {
    mkdir -p "$work/debian"
    printf 'Source: perfile\n\nPackage: %s\nArchitecture: any\n' "$1" >"$work/debian/control"
    (cd "$work" && find "packages/$1" -type f \( -perm -100 -o -name '*.so.*' \) -print0 |
        xargs -0r dpkg-shlibdeps -O --ignore-missing-info 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

# finish PACKAGE SECTION DEPENDS DESCRIPTION: writes the package.
finish() {
    local root=$work/packages/$1 depends
    depends=$(printf '%s\n%s\n' "$3" "$(needs "$1")" | grep . | paste -sd, | sed 's/,\([^ ]\)/, \1/g')
    install -D -m 644 "$source/LICENSE" "$root/usr/share/doc/$1/copyright"
    mkdir -p "$root/DEBIAN"
    {
        printf 'Package: %s\nVersion: %s\nArchitecture: %s\n' "$1" "$version" "$(dpkg --print-architecture)"
        printf 'Maintainer: The authors of perfile <perfile@localhost>\nSection: %s\nPriority: optional\n' "$2"
        [ -z "$depends" ] || printf 'Depends: %s\n' "$depends"
        printf 'Installed-Size: %s\n' "$(du -sk "$root" | cut -f1)"
        printf 'Description: %s\n' "$4"
    } >"$root/DEBIAN/control"
    case $1 in libperfile[0-9]*) echo "activate-noawait ldconfig" >"$root/DEBIAN/triggers" ;; esac
    dpkg-deb --root-owner-group --build "$root" "$folder/$1_${version}_$(dpkg --print-architecture).deb" >/dev/null
    echo "$folder/$1_${version}_$(dpkg --print-architecture).deb"
}

move libperfile-dev include 'lib*/cmake' 'lib*/pkgconfig' 'lib*/libperfile.a' 'lib*/libperfile-fuzz.a' \
    'lib*/libperfile.so' 'lib/*/cmake' 'lib/*/pkgconfig' 'lib/*/libperfile.a' 'lib/*/libperfile-fuzz.a' 'lib/*/libperfile.so' \
    share/man/man3 share/perfile/fuzz
move "libperfile$interface" 'lib*/libperfile.so.*' 'lib/*/libperfile.so.*'
move perfile-symbolizer libexec
mkdir -p "$work/packages/libperfile-dev/usr/share/doc"
[ ! -d "$work/all/usr/share/doc/perfile" ] ||
    mv "$work/all/usr/share/doc/perfile" "$work/packages/libperfile-dev/usr/share/doc/libperfile-dev"
move perfile bin share
left=$(find "$work/all" ! -type d)
[ -z "$left" ] || { printf 'debian.sh: in no package:\n%s\n' "$left" >&2; exit 1; }

[ ! -d "$work/packages/perfile-symbolizer" ] ||
    finish perfile-symbolizer utils "" "reads debug information and demangles names for perfile"
common=
[ ! -d "$work/packages/perfile-symbolizer" ] || common="perfile-symbolizer (= $version)"
finish perfile utils "$common" "reads, checks, repairs and converts recordings of perf"
finish "libperfile$interface" libs "$common" "library for recordings of perf"
finish libperfile-dev libdevel "libperfile$interface (= $version)" "library for recordings of perf: headers and documents"
