#!/usr/bin/env bash
# check_old_compiler.sh FOLDER GAPLINE: what is installed builds with the compiler, the C library and the libraries of the
# oldest distribution that packages are made for (tools/package.sh), asks for nothing newer, and says what GAPLINE says.
# Its packages are fetched from this machine's own source into FOLDER and unpacked there; nothing is installed, no root is
# needed. Status 77 where there is no such source, and says why.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "$1"
folder=$(realpath "$1")
gapline=$(realpath "$2")
root=$folder/root
log=$folder/log

skip() {
	echo "$*: nothing is built with an old compiler"
	exit 77
}
fail() {
	grep -E 'error|undefined|FAILED' -A 5 "$log" | cut -c 1-400 | head -n 60
	tail -n 5 "$log" | cut -c 1-400
	echo "$*"
	exit 1
}
command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip "neither Debian nor Ubuntu"
. tests/support/debian.sh
. tools/sysroot.sh
. /etc/os-release
case $ID in
debian) release=bullseye libc=2.31 ;;
ubuntu) release=focal libc=2.31 ;;
*) skip "neither Debian nor Ubuntu" ;;
esac
source=$(debian_source)
[ -n "$source" ] || skip "no package source of this distribution"
libraries=usr/lib/$(gcc -print-multiarch)
sysroot_make "$folder" "$release" "$source" gcc libc6-dev libsqlite3-dev libxml2-dev zlib1g-dev libzstd-dev \
	>"$log" 2>&1 || { tail -n 5 "$log"; skip "the packages of $release cannot be fetched"; }
rm -rf "$folder/build"
"$folder/compiler/cc" --version | head -n 1
export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/$libraries/pkgconfig:$root/usr/share/pkgconfig
CMAKE_C_COMPILER_LAUNCHER='' cmake -S . -B "$folder/build" -G Ninja -DCMAKE_C_COMPILER="$folder/compiler/cc" \
	-DCMAKE_AR="$(command -v ar)" -DCMAKE_RANLIB="$(command -v ranlib)" -DCMAKE_SYSROOT="$root" \
	-DCMAKE_FIND_ROOT_PATH="$root" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DGAPLINE_COMMAND_ONLY=ON \
	>"$log" 2>&1 || fail "cmake failed"
grep -q 'CMAKE_C_COMPILER_VERSION "1[0-9]\.\|CMAKE_C_COMPILER_VERSION "9\.' "$folder"/build/CMakeFiles/*/CMakeCCompiler.cmake
grep 'CUDA toolkit' "$log" || true # what is left out for want of it
cmake --build "$folder/build" >>"$log" 2>&1 || fail "the build failed"

n=0
for file in "$folder/build/gen/gapline" "$folder"/build/gen/inject/*.so; do
	newest=$(objdump -T "$file" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
	[ "$(printf 'GLIBC_%s\n%s\n' "$libc" "$newest" | sort -V | tail -n 1)" = "GLIBC_$libc" ] ||
		fail "${file##*/} asks for ${newest/_/ }"
	n=$((n + 1))
done
pair=examples/training-step
for program in "$gapline" "$folder/build/gen/gapline"; do
	"$program" report $pair/baseline.sqlite.gz $pair/fixed.sqlite.gz -q --json - >"$folder/said" || fail "$program: status $?"
	[ "$program" = "$gapline" ] && mv "$folder/said" "$folder/expected"
done
cmp "$folder/said" "$folder/expected" || fail "it says something else"
echo "$n files ask for glibc $libc or older; the report of $pair is the same"
