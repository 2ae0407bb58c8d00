#!/usr/bin/env bash
# check_aarch64.sh FOLDER GAPLINE: everything, the injected libraries and the tests included, is built for aarch64 (Grace
# Hopper, Jetson) without a warning; there the unit tests pass and the example's report is the same bytes, all on an emulated
# processor (qemu-user). Nothing here runs on such a machine, and what is loaded into other programs is built and not run.
#
# The libraries are Debian's for arm64, fetched into FOLDER and unpacked there. Skipped (77) where a tool is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
mkdir -p "$1"
folder=$(realpath "$1")
gapline=$(realpath "$2")
target=aarch64-linux-gnu
root=$folder/root
log=$folder/log

skip() {
	echo "$*: nothing is built for aarch64"
	exit 77
}
fail() {
	tail -n 30 "$log" | cut -c 1-400
	echo "$*"
	exit 1
}
command -v apt-get >/dev/null && command -v dpkg >/dev/null || skip "neither Debian nor Ubuntu"
for tool in $target-gcc:gcc-$target qemu-aarch64:qemu-user; do
	command -v "${tool%:*}" >/dev/null || skip "${tool%:*} is missing (apt-get install ${tool#*:})"
done
. tests/support/debian.sh
. tools/sysroot.sh
. /etc/os-release
[ "$ID" = debian ] || skip "Ubuntu has the packages of other processors elsewhere"
source=$(debian_source)
[ -n "$source" ] || skip "no package source of this distribution"
sysroot_architecture=arm64
sysroot_unpack "$folder" "$VERSION_CODENAME" "$source" libc6-dev libsqlite3-dev libxml2-dev zlib1g-dev libzstd-dev \
	libcmocka-dev >"$log" 2>&1 || { tail -n 5 "$log"; skip "the packages for arm64 cannot be fetched"; }

export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/$target/pkgconfig:$root/usr/share/pkgconfig
emulator=("$(command -v qemu-aarch64)" -L "$root")
cmake -S . -B "$folder/build" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	-DCMAKE_C_COMPILER=$target-gcc -DCMAKE_SYSROOT="$root" -DCMAKE_FIND_ROOT_PATH="$root" -DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY \
	-DCMAKE_CROSSCOMPILING_EMULATOR="$(IFS=';' && echo "${emulator[*]}")" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGAPLINE_WERROR=ON \
	-DGAPLINE_NVCC= >"$log" 2>&1 || fail "cmake failed"
grep 'captures with nsys only' "$log" || true # what is left out for want of the CUDA toolkit's headers
cmake --build "$folder/build" --target all long >>"$log" 2>&1 || { grep -v '^\[' "$log" >"$log.said"; mv "$log.said" "$log"; fail "the build failed"; }
for file in "$folder/build/gen/gapline" "$folder"/build/gen/inject/*.so; do
	readelf -h "$file" | grep -q 'Machine: *AArch64' || fail "$file is for another processor"
done

# Without a simulation of an hour of arithmetic, and without what reads memory by process_vm_readv, which is not emulated.
GAPLINE_FEW_DRAWS=1 ctest --test-dir "$folder/build" -j "$((2 * $(nproc)))" -R '^test_' -E '^(test_simulation|test_py_layout)$' -LE '^long$' --timeout 1200 --output-on-failure >"$log" 2>&1 ||
	fail "$(grep 'tests passed' "$log")"
tests=$(grep -c '  Passed ' "$log")
[ "$tests" -gt 100 ] || fail "$tests unit tests"
pair=examples/training-step
for file in html json; do
	"${emulator[@]}" "$folder/build/gen/gapline" report $pair/baseline.sqlite.gz $pair/fixed.sqlite.gz -q \
		"--$([ $file = html ] && echo output || echo json)" "$folder/said" || fail "report --$file: status $?"
	cmp "$folder/said" $pair/report.$file || fail "the report is another one"
done
echo "aarch64: $(find "$folder/build/gen" -name '*.so' | wc -l) libraries and the command are built; $tests unit tests pass, and the example's report is the same, by emulation. Not run: test_simulation, test_py_layout (process_vm_readv is not emulated), what is loaded into programs, and anything on a GPU"
