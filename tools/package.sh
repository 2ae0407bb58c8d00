#!/usr/bin/env bash
# package.sh FOLDER: a .deb, a tarball and a wheel of gapline that need nothing but the C library of Debian 11 or newer,
# and their debug symbols.
#
# Built with the compiler and the libraries of the oldest Debian that can still be fetched (sysroot.sh), because a program
# runs on the glibc that it was built with and on every newer one; no root is needed. SQLite, libxml2 (libxml2.sh),
# zlib and zstd are linked in. The collector needs NVIDIA's headers (CUPTI, NVTX), which are taken from the CUDA toolkit of
# this machine; without one it is left out, and that is said. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/sysroot.sh
mkdir -p "$1"
folder=$(realpath "$1")
release=bullseye
log=$folder/log
version=$(sed -n 's/^project(gapline VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
architecture=$(dpkg --print-architecture)
machine=$(uname -m)
multiarch=$(gcc -print-multiarch)

die() {
	[ ! -e "$log" ] || tail -n 30 "$log" >&2
	echo "package: $*" >&2
	exit 1
}
source=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
	awk '$2 == "main" && $1 !~ /security/ { print $1; exit }')
[ -n "$source" ] || die "no source of packages is known to apt"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
# Who makes the package, as Debian's tools ask for it; else who made the commit.
maintainer="${DEBFULLNAME:-$(git log -1 --format=%an)} <${DEBEMAIL:-$(git log -1 --format=%ae)}>"
export SOURCE_DATE_EPOCH LC_ALL=C.UTF-8 TZ=UTC
umask 022
: >"$log"

[ -e "$folder/root/.libxml2" ] || echo "fetching the compiler and the libraries of $release"
sysroot_make "$folder" "$release" "$source" gcc libc6-dev libsqlite3-dev libxml2-dev zlib1g-dev libzstd-dev \
	>>"$log" 2>&1 || die "the packages of $release cannot be fetched"
tools/libxml2.sh "$folder" "$release" "$source" >>"$log" 2>&1 || die "libxml2 is not built"
root=$folder/root
libc=$(DPKG_ADMINDIR=$root/var/lib/dpkg dpkg-query -W -f '${Version}' libc6 | cut -d- -f1)

# ---- what is committed, built ----
rm -rf "$folder/source" "$folder/build" "$folder/stage" "$folder"/gapline*
mkdir -p "$folder/source" "$folder/stage"
git archive HEAD | tar -x -C "$folder/source"
cuda=
for place in /usr/local/cuda/include /usr/local/cuda/extras/CUPTI/include; do
	[ ! -e "$place/cupti.h" ] || cuda=$place
done
if [ -n "$cuda" ]; then
	echo "the collector is built with the headers of CUDA $(sed -n 's/^#define CUDA_VERSION *\([0-9]*\)0\([0-9]\)0$/\1.\2/p' "$cuda/cuda.h")"
else
	echo "no CUDA toolkit here: the package captures with nsys only"
	cuda=NOTFOUND
fi
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$multiarch/pkgconfig:$root/usr/share/pkgconfig
export GAPLINE_SBOM_ROOT=$root
map="-ffile-prefix-map=$folder/source=. -ffile-prefix-map=$folder/build=build -ffile-prefix-map=$root="
[ "$cuda" = NOTFOUND ] || map+=" -ffile-prefix-map=$(realpath "$cuda")=cuda"
{
	CMAKE_C_COMPILER_LAUNCHER='' cmake -S "$folder/source" -B "$folder/build" -G Ninja \
		-DCMAKE_AR="$(command -v ar)" -DCMAKE_RANLIB="$(command -v ranlib)" \
		-DCMAKE_C_COMPILER="$folder/compiler/cc" -DCMAKE_SYSROOT="$root" -DCMAKE_FIND_ROOT_PATH="$root" \
		-DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS="$map" -DGAPLINE_COMMAND_ONLY=ON -DGAPLINE_BUNDLE=ON \
		-DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_INSTALL_LIBDIR=lib -DGAPLINE_CUPTI_INCLUDE="$cuda" -DGAPLINE_NVTX_INCLUDE="$cuda" &&
		cmake --build "$folder/build" && DESTDIR=$folder/stage/usr-tree cmake --install "$folder/build"
} >>"$log" 2>&1 || die "the build failed"

# ---- the tree that all packages have, and its debug symbols apart ----
tree=$folder/stage/usr-tree/usr
programs=("$tree/bin/gapline" "$tree"/lib/gapline/*.so)
symbols=$folder/stage/symbols/usr/lib/debug/.build-id
for file in "${programs[@]}"; do
	id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
	mkdir -p "$symbols/${id:0:2}"
	objcopy --only-keep-debug --compress-debug-sections "$file" "$symbols/${id:0:2}/${id:2}.debug"
	strip --strip-unneeded --remove-section=.comment "$file"
done
needs=$(objdump -T "${programs[@]}" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
documents=$tree/share/doc/gapline
mkdir -p "$documents/examples"
cp examples/training-step/{README.md,baseline.sqlite.gz,fixed.sqlite.gz} "$documents/examples"
# What is linked in is somebody's, whose terms ask to be said.
{
	cat LICENSE
	for library in libsqlite3-dev libxml2-dev zlib1g-dev libzstd-dev; do
		printf '\n---- linked in: %s ----\n\n' "${library%-dev}"
		cat "$root/usr/share/doc/$library/copyright"
	done
} >"$documents/copyright"

# $1: folder, $2: file. The folder as a tarball, the same every time.
pack() {
	tar -C "$(dirname "$1")" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+w \
		-cf - "$(basename "$1")" | case $2 in *.gz) gzip -9n ;; *) xz -6 ;; esac >"$2"
}
pack "$folder/stage/symbols" "$folder/gapline-$version-linux-$machine-debug.tar.xz"
cp -r "$tree" "$folder/stage/gapline-$version"
pack "$folder/stage/gapline-$version" "$folder/gapline-$version-linux-$machine.tar.gz"

# ---- .deb ----
deb=$folder/stage/deb
mkdir -p "$deb/DEBIAN" "$deb/usr/share/lintian/overrides"
cp -r "$tree" "$deb"
documents=$deb/usr/share/doc/gapline
mkdir -p "$deb/usr/share/zsh/vendor-completions" # where Debian's zsh looks
mv "$deb/usr/share/zsh/site-functions/_gapline" "$deb/usr/share/zsh/vendor-completions"
rmdir "$deb/usr/share/zsh/site-functions"
rm "$documents/LICENSE" # in copyright
mv "$documents/CHANGELOG.md" "$documents/changelog"
printf 'gapline (%s-1) stable; urgency=medium\n\n  * Release %s: see changelog.gz.\n\n -- %s  %s\n' "$version" "$version" \
	"$maintainer" "$(date -R -d "@$SOURCE_DATE_EPOCH")" >"$documents/changelog.Debian"
find "$deb/usr/share/man" "$documents"/changelog* -type f -exec gzip -9n {} +
cp tools/lintian-overrides "$deb/usr/share/lintian/overrides/gapline"
find "$deb" -type d -exec chmod 755 {} +
find "$deb" -type f -exec chmod 644 {} +
chmod 755 "$deb/usr/bin/gapline"
(cd "$deb" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
cat >"$deb/DEBIAN/control" <<END
Package: gapline
Version: $version-1
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$deb/usr" | cut -f1)
Depends: libc6 (>= ${needs#GLIBC_})
Section: devel
Priority: optional
Description: Where a fix of a CUDA program saved time, and how sure that is
 Gapline compares two profiles of a CUDA program, from before and after a fix,
 and writes one HTML file: whether it became faster, with an interval, where the
 time of a step went on the GPU, and what the GPU waited for.
 .
 It reads Nsight Systems' exports and the PyTorch profiler's traces, and records
 programs itself.
END
find "$deb" -exec touch -hd "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$deb" "$folder/gapline_$version-1_$architecture.deb" >>"$log" || die "no .deb"

# ---- wheel ----
/usr/bin/python3 tools/wheel.py "$tree" "$version" "manylinux_${libc}_$machine" "$folder" || die "no wheel"

echo "the program: $(stat -c %s "$tree/bin/gapline") bytes"
rm -rf "$folder/stage" "$folder/source"
echo "needs ${needs/_/ } or newer: Debian 11, Ubuntu 20.04, RHEL 9 and what came after them"
(cd "$folder" && du -h --apparent-size gapline* && sha256sum gapline*)
