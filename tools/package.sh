#!/usr/bin/env bash
# package.sh FOLDER: a .deb and a tarball of gapline that need nothing but the C library of Debian 11 or newer.
#
# Built in a root that debootstrap makes of the oldest Debian that can still be fetched, because a program runs on the
# glibc that it was built with and on every newer one. SQLite, libxml2 (with the ICU and lzma that Debian's wants), yajl,
# zlib and zstd are linked in. The collector needs NVIDIA's headers (CUPTI, NVTX), which are taken from the CUDA toolkit of
# this machine; without one it is left out, and that is said. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$(realpath -m "$1")
release=${PACKAGE_RELEASE:-bullseye}
root=$folder/root-$release
log=$folder/log

die() {
	[ ! -e "$log" ] || tail -n 30 "$log" >&2
	echo "package: $*" >&2
	exit 1
}
[ "$(id -u)" = 0 ] || die "debootstrap and chroot need root"
command -v debootstrap >/dev/null || die "debootstrap is not installed"
source=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' | awk '$2 == "main" && $1 !~ /security/ { print $1; exit }')
[ -n "$source" ] || die "no source of packages is known to apt"

mkdir -p "$folder"
: >"$log"
if [ ! -e "$root/.ready" ]; then
	echo "making a root of $release"
	rm -rf "$root"
	packages=gcc,g++,libc6-dev,cmake,ninja-build,pkg-config,libsqlite3-dev,libxml2-dev,libicu-dev,liblzma-dev,zlib1g-dev
	packages+=,libzstd-dev,libyajl-dev,file,dpkg-dev,python3
	debootstrap --variant=minbase --include="$packages" "$release" "$root" "$source" >>"$log" 2>&1 ||
		die "debootstrap of $release failed"
	touch "$root/.ready"
fi

# What is committed, and NVIDIA's headers if there are any.
rm -rf "$root/gapline" "$root/out" "$root/headers"
mkdir -p "$root/gapline" "$root/out" "$root/headers"
git archive HEAD | tar -x -C "$root/gapline"
cuda=
for place in /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include; do
	[ ! -e "$place/cupti.h" ] || cuda=$place
done
if [ -n "$cuda" ]; then
	cp -rL "$cuda/." "$root/headers"
	echo "the collector is built with the headers of CUDA $(sed -n 's/^#define CUDA_VERSION *\([0-9]*\)0\([0-9]\)0$/\1.\2/p' "$cuda/cuda.h")"
else
	echo "no CUDA toolkit here: the package captures with nsys only"
fi

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
	sh -ec '
	cmake -S /gapline -B /out/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DGAPLINE_COMMAND_ONLY=ON -DGAPLINE_BUNDLE=ON \
		-DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib \
		-DGAPLINE_CUPTI_INCLUDE=/headers -DGAPLINE_NVTX_INCLUDE=/headers
	cmake --build /out/build
	cd /out/build
	cpack -G "DEB;TGZ"
	' >>"$log" 2>&1 || die "the build in $release failed"
cp "$root"/out/build/gapline*.deb "$root"/out/build/gapline*.tar.gz "$folder"
needs=$(chroot "$root" objdump -T /out/build/gen/gapline | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
echo "needs ${needs/_/ } or newer: Debian 11, Ubuntu 20.04, RHEL 9 and what came after them"
(cd "$folder" && du -h --apparent-size gapline*.deb gapline*.tar.gz && sha256sum gapline*.deb gapline*.tar.gz)
