#!/usr/bin/env bash
# page.sh BUILD: the report of a large pair in a browser (tests/render/page/speed.mjs says what is measured and held to): of two
# generated profiles with a million events each, and of the large recorded capture where it lies in ../shared/captures or
# where GAPLINE_CAPTURES says.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")/.."
captures=${GAPLINE_CAPTURES:-../shared/captures}
chromium=$(command -v chromium-headless-shell || command -v chromium || command -v chromium-browser || true)
if [ -z "$chromium" ] || [ ! -d tests/render/page/node_modules/playwright-core ] || ! command -v node >/dev/null; then
	echo "skipped: that needs chromium, node and npm ci in tests/render/page"
	exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for side in 0 1; do
	"$build/bench/generate" job "$folder/$side.sqlite" rows=1000000 fixed=$side seed=$side
done
"$build/gen/gapline" report --quiet "$folder/0.sqlite" "$folder/1.sqlite" -o "$folder/generated.html"
if [ -f "$captures/large-900k-kernels.sqlite.xz" ] && command -v xz >/dev/null; then
	xz -dc "$captures/large-900k-kernels.sqlite.xz" >"$folder/large.sqlite"
	"$build/gen/gapline" report --quiet "$folder/large.sqlite" "$folder/large.sqlite" -o "$folder/large-capture.html"
fi
node tests/render/page/speed.mjs "$chromium" "$folder"/*.html
