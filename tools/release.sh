#!/usr/bin/env bash
# release.sh [--without-checks]: everything that a release needs, in build/release-VERSION, or an error that says what is
# missing. It changes nothing else: the tag is set by hand, with the command that it ends with.
#
# The checklist, in its order: nothing uncommitted; the changelog begins with this version, which no tag has; what a newcomer
# fetches and waits for; all tests, and what takes long; the packages twice, the same bytes; what they are linked from (SBOM);
# checksums; notes, which name the checks that were skipped for want of a tool.
# All of it takes two hours or more. Tests that passed at this very commit, in this folder, are not run again: when a machine
# or an evening ends, the same command goes on.
# --without-checks leaves the tests out, and the notes say so: for trying the rest.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^project(gapline VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
folder=build/release-$version
checked="all tests (./dev test, ./dev check-all)"

say() { printf '%s\n' "release: $*"; }
die() {
	say "$*" >&2
	exit 1
}

[ -z "$(git status --porcelain)" ] || die "uncommitted files: $(git status --porcelain | head -n 3)"
first=$(sed -n 's/^## //p' CHANGELOG.md | head -n 1)
[ "$first" = "$version" ] || die "CHANGELOG.md begins with $first, and CMakeLists.txt says $version"
! git rev-parse -q --verify "refs/tags/v$version" >/dev/null || die "v$version was released; set another version in CMakeLists.txt"
commit=$(git rev-parse HEAD)

clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone -q "file://$PWD" "$clone/gapline"
size=$(du -sm "$clone/gapline/.git" | cut -f1)
[ "$size" -lt 80 ] || die "history and fixtures have $size MB"
began=$SECONDS
(
	unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
	cd "$clone/gapline"
	./dev demo >"$clone/demo" 2>&1 || die "./dev demo fails in a clone: $(tail -n 5 "$clone/demo")"
)
spent=$((SECONDS - began))
[ "$spent" -lt 60 ] || die "./dev demo takes $spent s"
say "a clone has $size MB of history and fixtures; ./dev demo takes $spent s there"

if [ "${1:-}" = --without-checks ]; then
	checked="no test was run: this is no release"
else
	GAPLINE_GO_ON=1 ./dev test || die "tests fail"
	GAPLINE_GO_ON=1 ./dev check-all || die "checks fail"
	skipped=$(sed -n 's/.*<testcase name="\([^"]*\)".*status="notrun".*/\1/p' build/tests-*.xml | sort -u | tr '\n' ' ')
	[ -z "$skipped" ] || checked+=", but for what was skipped here: $skipped"
	again=$(sed -n "s/^$commit failed [^ ]* //p" build/tested | sort -u | paste -sd ' ')
	[ -z "$again" ] || checked+=", after these had failed once at this commit: $again"
fi

./dev package
sums=$(cd build/package && sha256sum gapline*)
./dev package >/dev/null
[ "$sums" = "$(cd build/package && sha256sum gapline*)" ] || die "two builds of $commit differ"
say "two builds give the same bytes"

rm -rf "$folder"
mkdir -p "$folder"
cp build/package/gapline* "$folder"
tar -xOzf "$folder"/gapline-*-linux-*.tar.gz --wildcards --exclude='*debug*' '*/gapline.spdx.json' >"$folder/gapline-$version.spdx.json"
[ -s "$folder/gapline-$version.spdx.json" ] || die "the packages have no SBOM"
(cd "$folder" && sha256sum gapline* >SHA256SUMS)
{
	printf '# gapline %s\n\n' "$version"
	awk -v wanted="## $version" '/^## / { inside = $0 == wanted; next } inside' CHANGELOG.md | sed '/./,$!d'
	printf '\nCommit %s. Checked: %s. Two builds gave the same bytes.\n\nSHA-256:\n\n' "$commit" "$checked"
	sed 's/^/    /' "$folder/SHA256SUMS"
} >"$folder/NOTES.md"
[ "$commit" = "$(git rev-parse HEAD)" ] && [ -z "$(git status --porcelain)" ] || die "the tree changed meanwhile"
say "$folder: $(cd "$folder" && ls | wc -l) files; $checked"
say "then: git tag -a v$version -F $folder/NOTES.md $commit"
