#!/bin/bash
# libraries.sh ARCHITECTURE: unpacks the libraries of another machine into build/cross/ARCHITECTURE, for the presets
# `s390x` and `i386`.
#
# The packages are those of the Debian release that is installed here, but nothing is installed: apt works on lists of its
# own in that folder.  Multiarch packages would have to be of the same version as those of this machine, and security
# updates do not come for every architecture.
set -eu

architecture=${1:?the architecture: s390x or i386}
mirror=${2:-http://deb.debian.org/debian}
folder=$(realpath -m "$(dirname "$0")/../..")/build/cross/$architecture
packages=(libzstd1 libzstd-dev libcbor-dev libcmocka0 libcmocka-dev libprotobuf-c1 libprotobuf-c-dev zlib1g zlib1g-dev
    libxxhash-dev libiberty-dev libdw1 libdw-dev libelf1 libelf-dev liblzma5 liblzma-dev libbz2-1.0
    libbz2-dev)
release=$(. /etc/os-release && echo "$VERSION_CODENAME")

rm -rf "$folder"
mkdir -p "$folder"/apt/{state/lists/partial,cache/archives/partial,debs}
cd "$folder/apt"
touch status
printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$release" >list
cat >conf <<END_OF_CONF
APT::Architecture "$architecture";
APT::Architectures { "$architecture"; };
APT::Sandbox::User "";
Dir::State "$PWD/state";
Dir::State::status "$PWD/status";
Dir::Cache "$PWD/cache";
Dir::Etc::sourcelist "$PWD/list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
END_OF_CONF
export APT_CONFIG=$PWD/conf
apt-get -qq update
# The library of libcbor has its version in its name.
packages+=("$(apt-cache depends libcbor-dev | sed -n 's/.*Depends: \(libcbor[0-9.]*\)$/\1/p')")
(cd debs && apt-get -qq download "${packages[@]}")
for package in debs/*.deb; do
    dpkg-deb -x "$package" "$folder"
done
cd "$folder"
rm -r apt
echo "$folder: ${#packages[@]} packages of $release for $architecture"
