#!/bin/bash
# cmake/debian.sh makes packages that can be installed in an empty root and used there, and that leave nothing when they
# are removed.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs dpkg dpkg-deb dpkg-shlibdeps pkg-config

bash "$PERFILE_SOURCE/cmake/debian.sh" packages "$PERFILE_BUILD" >made
[ "$(wc -l <made)" -ge 3 ]
for field in perfile:libzstd1 perfile:libc6 libperfile0:libzstd1 libperfile-dev:libperfile0; do
    package=$(grep "/${field%%:*}[._0-9]" made | head -n 1)
    dpkg-deb -f "$package" Depends | grep -q "${field#*:}" || { echo "${field%%:*} does not depend on ${field#*:}"; exit 1; }
done
dpkg-deb -c "$(grep /perfile_ made)" | grep -q 'man5/perf.data.5.gz'
dpkg-deb -c "$(grep /libperfile-dev_ made)" | grep -q 'man3/libperfile.3.gz'

# What it depends on is not in the new root, which has nothing: that is forced, and only that.
root=$PWD/root
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers}
touch "$root"/var/lib/dpkg/{status,available}
manage() {
    PATH=$PATH:/usr/sbin:/sbin dpkg --root="$root" --force-not-root,depends --log="$PWD/dpkg.log" "$@" >said 2>&1 || { cat said; exit 1; }
}
manage -i packages/*.deb
for package in perfile libperfile-dev; do
    [ "$(dpkg-query --admindir="$root/var/lib/dpkg" -W -f '${db:Status-Abbrev}' "$package")" = "ii " ]
done

capture=$PERFILE_SOURCE/samples/captures/callgraph.data
"$root/usr/bin/perfile" stats --by dso,sym "$capture" >stats
"$PERFILE_BUILD/perfile" stats --by dso,sym "$capture" | cmp - stats
read -ra flags <<<"$PERFILE_CFLAGS"
pc=$(dirname "$(find "$root" -name perfile.pc)")
read -ra from <<<"$(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs perfile)"
"$PERFILE_CC" "${flags[@]}" -o program "$PERFILE_SOURCE/samples/count_by_comm.c" "${from[@]}"
LD_LIBRARY_PATH=$(dirname "$(find "$root" -name 'libperfile.so.*' | head -n 1)") ./program "$capture" >counts
[ -s counts ]

manage --purge libperfile-dev perfile perfile-symbolizer "$(basename "$(grep -o 'libperfile[0-9][0-9.]*' made | head -n 1)")"
find "$root/usr" ! -type d 2>/dev/null >left || true
[ ! -s left ] || { echo "left when removed:"; head left; exit 1; }
