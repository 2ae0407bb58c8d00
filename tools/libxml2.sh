#!/usr/bin/env bash
# libxml2.sh FOLDER RELEASE SOURCE: libxml2 of what gapline uses of it, in the place of the one in FOLDER/root.
#
# The distribution's static library brings ICU, 29 MB of tables for encodings that gapline never writes, and can fetch by
# HTTP. This is built from the distribution's own source package, with its patches, without these. What that source is
# stands below: apt checks where it comes from, and the sum that it is the one that was looked at.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/sysroot.sh"
folder=$1 release=$2 source=$3
version=2.9.10+dfsg-6.7+deb11u4
sum=db8806a35ae170159cf267bb83296f1fd6310dedab53450e4d3f5e8af2937c4a # of its .dsc, which holds those of its files
root=$folder/root
libraries=$root/usr/lib/$(gcc -print-multiarch)

[ "$(cat "$root/.libxml2" 2>/dev/null)" != "$version" ] || exit 0
rm -rf "$folder/libxml2"
mkdir -p "$folder/libxml2"
cd "$folder/libxml2"
sysroot_apt "$folder" "$release" "$source" update
sysroot_apt "$folder" "$release" "$source" source --download-only "libxml2=$version"
echo "$sum  libxml2_$version.dsc" | sha256sum --check --quiet
dpkg-source --no-check -x "libxml2_$version.dsc" source # apt has checked the signature
cd source
CC=$folder/compiler/cc CFLAGS="-O2 -fPIC -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$PWD=libxml2" ./configure \
	--quiet --disable-shared --with-minimum --without-lzma --without-zlib --with-tree --with-html --with-valid --with-output \
	--with-threads
make --silent -j"$(nproc)" libxml2.la
cp .libs/libxml2.a "$libraries/libxml2.a"
cp include/libxml/*.h "$root/usr/include/libxml2/libxml"
sed -i 's/^\(Libs.private\|Requires.private\):.*/\1:/' "$libraries/pkgconfig/libxml-2.0.pc"
rm -rf "$folder/libxml2" "$folder/apt"
echo "$version" >"$root/.libxml2"
