#!/usr/bin/env bash
# check_package.sh FOLDER: the packages are the same bytes when built twice, and run where nothing but the C library is: in
# fresh roots of Debian 12 and of the newest one, on the examples. For `./dev check-all`: it makes three roots.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(realpath -m "$1")

skip() {
	echo "$*: the packages are not checked"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "not root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
source=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' | awk '$2 == "main" && $1 !~ /security/ { print $1; exit }')
[ -n "$source" ] || skip "no package source"

tools/package.sh "$folder"
before=$(sha256sum "$folder"/gapline*.deb "$folder"/gapline*.tar.gz)
tools/package.sh "$folder" >/dev/null
[ "$before" = "$(sha256sum "$folder"/gapline*.deb "$folder"/gapline*.tar.gz)" ] || { echo "two builds differ"; exit 1; }
echo "two builds give the same bytes"

for release in bookworm trixie; do
	root=$folder/fresh-$release
	[ -e "$root/.ready" ] || {
		rm -rf "$root"
		debootstrap --variant=minbase "$release" "$root" "$source" >"$folder/log" 2>&1 || { tail "$folder/log"; exit 1; }
		touch "$root/.ready"
	}
	rm -rf "$root/try" && mkdir "$root/try"
	cp "$folder"/gapline*.deb "$folder"/gapline*.tar.gz examples/training-step/*.sqlite.gz "$root/try"
	chroot "$root" /bin/sh -ec 'cd /try
		dpkg -i gapline*.deb >/dev/null
		gapline report baseline.sqlite.gz fixed.sqlite.gz -o deb.html --json deb.json --quiet
		gapline doctor >doctor || true
		test -e /usr/share/man/man1/gapline-report.1 || test -e /usr/share/man/man1/gapline-report.1.gz || \
			grep -qr /usr/share/man /etc/dpkg/dpkg.cfg.d
		dpkg -r gapline >/dev/null
		! command -v gapline >/dev/null
		mkdir tar && tar -xzf gapline*.tar.gz -C tar --strip-components 1
		program=$(find tar -path "*/bin/gapline")
		$program report baseline.sqlite.gz fixed.sqlite.gz -o tar.html --json tar.json --quiet'
	for kind in deb tar; do
		cmp "$root/try/$kind.json" examples/training-step/report.json
		cmp "$root/try/$kind.html" examples/training-step/report.html
	done
	grep -q libgapline-cupti.so "$root/try/doctor" || echo "$release: built without NVIDIA's headers, so without its own collector"
	echo "$release: installed, and its reports are the examples', byte for byte"
done
