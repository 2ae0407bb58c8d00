#!/usr/bin/env bash
# What every recipe here runs: both sides in turns on one machine, then the report and everything that a CI shows.
#
#   compare.sh OUT BASELINE FIXED          two command lines: `gapline run`
#   compare.sh --profiles OUT BASELINE FIXED   two profiles that are there already: `gapline report`
#
# GAPLINE        the program (gapline)
# GAPLINE_ARGS   further options, one a line: gates, --repeat=9, --time-limit=10m …
# BASELINE_COMMIT, FIXED_COMMIT   the two commits, named in the Markdown; optional
# REPORT_URL, SVG_URL   where the reader of the Markdown finds them
#
# OUT gets report.html, result.json, gaps.svg, summary.md, comment.md, gapline.xml and status, which holds gapline's exit
# status; the profiles of two command lines are in OUT/run. What an earlier job left there under these names is removed
# first, so that no result of it is shown again; where gapline fails (2, 3), result.json, summary.md, comment.md and
# gapline.xml say why, and where it is not found or the job is ended early, comment.md says that there is no result. It ends with gapline's status, so that a gate that is not passed (1), or stays open (4), fails the
# job.
set -euo pipefail

profiles=
if [ "${1-}" = --profiles ]; then profiles=1; shift; fi
[ $# -eq 3 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
out=$1 baseline=$2 fixed=$3
mkdir -p -- "$out"
out=$(cd -- "$out" && pwd)
rm -f -- "$out"/{report.html,result.json,gaps.svg,summary.md,comment.md,gapline.xml,status,run/report.html}
# What stands there where gapline is not found, or the job is ended before it has a result.
printf '<!-- gapline -->\n### Not measured\n\nThis push has no result: the job ended before gapline had one. Its log says why.\n' >"$out/comment.md"

outputs=(--json "$out/result.json" --svg "$out/gaps.svg" --markdown "$out/summary.md" --markdown-short "$out/comment.md"
	--junit "$out/gapline.xml")
[ -z "${SVG_URL-}" ] || outputs+=(--svg-url "$SVG_URL")
[ -z "${REPORT_URL-}" ] || outputs+=(--report-url "$REPORT_URL")
more=()
while IFS= read -r line; do
	[ -z "$line" ] || more+=("$line")
done <<<"${GAPLINE_ARGS-}"

status=0
if [ -n "$profiles" ]; then
	"${GAPLINE:-gapline}" report -o "$out/report.html" "${outputs[@]}" ${more[@]+"${more[@]}"} "$baseline" "$fixed" || status=$?
else
	"${GAPLINE:-gapline}" run --force -o "$out/run" --baseline "$baseline" --fixed "$fixed" "${outputs[@]}" \
		${more[@]+"${more[@]}"} || status=$?
	[ ! -e "$out/run/report.html" ] || cp -- "$out/run/report.html" "$out/report.html"
fi
echo "$status" >"$out/status"
if [[ ${BASELINE_COMMIT-} =~ ^[0-9a-f]{40,64}$ && ${FIXED_COMMIT-} =~ ^[0-9a-f]{40,64}$ ]]; then
	for page in "$out/summary.md" "$out/comment.md"; do
		[ ! -e "$page" ] || printf '\nCommits %s → %s\n' "$BASELINE_COMMIT" "$FIXED_COMMIT" >>"$page"
	done
fi
if [ -n "${GITHUB_STEP_SUMMARY-}" ] && [ -e "$out/summary.md" ]; then
	cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
