#!/bin/sh
# Reads and analyses the largest capture, beside a bare SQLite loop over the same rows, and opens its report in a browser:
# bench/run.sh [ROUNDS]
# The capture lies in ../shared/captures beside the repository, or where GAPLINE_CAPTURES says.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
packed=${GAPLINE_CAPTURES:-$root/../shared/captures}/large-900k-kernels.sqlite.xz
if [ ! -f "$packed" ]; then
	echo "skipped: there is no $(basename "$packed") in ../shared/captures, nor in GAPLINE_CAPTURES"
	exit 77
fi
bench=$root/build/release/bench/read_speed
gapline=$root/build/release/gen/gapline
if [ ! -x "$bench" ] || [ ! -x "$gapline" ]; then
	echo "build first: cmake --preset release && cmake --build build/release" >&2
	exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
xz -dc "$packed" >"$folder/large.sqlite"
echo "large-900k-kernels: $(wc -c <"$folder/large.sqlite") bytes"
"$bench" "$folder/large.sqlite" "${1:-7}"

# The whole command, start and output included; GNU time knows the peak of the process.
if command -v /usr/bin/time >/dev/null 2>&1; then
	/usr/bin/time -f "gapline show: %e s (%U user, %S system), peak RSS %M KB" "$gapline" show "$folder/large.sqlite" \
		>/dev/null
else
	time "$gapline" show "$folder/large.sqlite" >/dev/null
fi

# The report of the large capture, in a browser.
chromium=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$chromium" ] || [ ! -d "$root/tests/page/node_modules/playwright-core" ] || ! command -v node >/dev/null 2>&1; then
	echo "the report is not timed in a browser: that needs chromium, node and npm ci in tests/page"
	exit 0
fi
"$gapline" report --quiet "$folder/large.sqlite" "$folder/large.sqlite" -o "$folder/report.html"
node "$root/tests/page/speed.mjs" "$chromium" "$folder/report.html"
