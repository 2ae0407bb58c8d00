#!/usr/bin/env bash
# check_other_pythons.sh GAPLINE BUILD_TESTS_DIR: the sampler on Pythons that this distribution does not have, in a root
# of its own made of another Debian's packages (kept in BUILD_TESTS_DIR): 3.13, and 3.14 and 3.15 where its next one has
# them. Stacks and names of threads are the interpreter's, shares and waits the program's own clock's; what is newer still
# is refused with a sentence, and nothing happens to the program. Skipped (77) where that cannot work: not root, no
# debootstrap, no such packages, no namespaces.
set -euo pipefail
gapline=$(realpath "$1")
build=$(realpath "$2")
folder=$build/pythons
tests=$(realpath "$(dirname "$0")/..")
. "$tests/support/debian.sh"
root=$folder/root

skip() {
	echo "$*: other Pythons were not tried"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "not root"
for tool in debootstrap unshare chroot; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
source=$(debian_source)
[ -n "$source" ] || skip "no package source of this distribution"
unshare --mount --fork true 2>/dev/null || skip "namespaces are not allowed here"

mkdir -p "$folder"
if [ ! -e "$root/ready" ]; then
	echo "making a root with Debian 13's Python"
	rm -rf "$root"
	debootstrap --variant=minbase --include=python3.13,python3-greenlet trixie "$root" "$source" >"$folder/log" 2>&1 ||
		skip "debootstrap failed ($folder/log)"
	touch "$root/ready"
fi
if [ ! -e "$root/asked" ]; then
	# Debian's next one has a newer Python; where it cannot be had, 3.13 is all that is tried.
	echo "deb $source sid main" >"$root/etc/apt/sources.list.d/sid.list"
	cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
	cp -r /etc/apt/apt.conf.d "$root/etc/apt/" 2>/dev/null || true
	chroot "$root" apt-get -o Acquire::Check-Valid-Until=false update >>"$folder/log" 2>&1 || true
	for newer in 3.14 3.15; do
		chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Check-Valid-Until=false install -y \
			--no-install-recommends -t sid "python$newer" >>"$folder/log" 2>&1 || echo "no Python $newer could be had"
	done
	touch "$root/asked"
fi

# gapline runs out here, the program in there: what both need is at the same place.
mkdir -p "$root/proc" "$root$tests" "$root$build" "$root$(dirname "$gapline")"
cat >"$folder/inside" <<'SCRIPT'
set -euo pipefail
root=$1 tests=$2 build=$3 gapline=$4
for shared in /tmp "$tests" "$build" "$(dirname "$gapline")"; do mount --bind "$shared" "$root$shared"; done
mount -t proc proc "$root/proc"
for python in "$root"/usr/bin/python3.1[0-9]; do
	version=${python##*/python}
	cat >"$build/pythons/python$version" <<PYTHON
#!/bin/sh
exec chroot "$root" /usr/bin/env -C "\$PWD" /usr/bin/python$version "\$@"
PYTHON
	chmod +x "$build/pythons/python$version"
	echo "== $version"
	case $version in
	3.13 | 3.14 | 3.15)
		"$build/pythons/python$version" -W ignore "$tests/inject/check_inject_python.py" "$build/inject/libpython_reader.so"
		;;
	esac
	for check in check_python_capture check_python_graphs check_python_programs; do
		/usr/bin/python3 "$tests/inject/$check.py" "$gapline" "$build/inject" "$build/inject/libpython_cuda.so" \
			"$build/inject/cuda_target" --python "$build/pythons/python$version"
	done
done
SCRIPT
exec unshare --mount --fork bash "$folder/inside" "$root" "$tests" "$build" "$gapline"
