#!/usr/bin/env bash
# Finds the commit that made a program slower: for `git bisect run`, which calls it in each commit's tree.
#
#   git bisect start BAD GOOD && BASELINE='…' FIXED='…' git bisect run PATH/TO/bisect.sh
#
# BASELINE   command line of the program as it was at GOOD, built outside of this tree
# FIXED      command line of the program in this tree
# BUILD      shell commands that build this tree (default: none)
# LIMIT      percent a step that count as slower: half of what you look for (2)
# RUNS       timed runs per side, each number where the one before it decides nothing ("auto 40 80")
# OUT        a folder outside of this tree: a report per commit (a temporary one)
# GAPLINE    the program (gapline); GAPLINE_ARGS   further options, one a line
#
# Both sides are measured in turns, so that the machine may have changed since the last commit. A step within LIMIT is
# good (0), one beyond it bad (1). Where no number of runs decides, the commit is skipped (125), as is one that cannot be
# built or fails. Wrong options end the search (128).
set -uo pipefail

[ -n "${BASELINE-}" ] && [ -n "${FIXED-}" ] || { sed -n '2,18s/^# \{0,1\}//p' "$0" >&2; exit 128; }
commit=$(git rev-parse --short HEAD) || exit 128
out=${OUT:-$(mktemp -d)} && mkdir -p -- "$out" || exit 128
more=()
while IFS= read -r line; do
	[ -z "$line" ] || more+=("$line")
done <<<"${GAPLINE_ARGS-}"

if [ -n "${BUILD-}" ] && ! bash -c "$BUILD"; then
	echo "bisect: $commit cannot be built: skipped" >&2
	exit 125
fi
for repeat in ${RUNS:-auto 40 80}; do
	"${GAPLINE:-gapline}" run --force -o "$out/$commit" --baseline "$BASELINE" --fixed "$FIXED" --repeat "$repeat" \
		--gate "step<=+${LIMIT:-2}%" ${more[@]+"${more[@]}"}
	status=$?
	case $status in
	0 | 1)
		echo "bisect: $commit is $([ $status = 0 ] && echo good || echo bad), $repeat runs: $out/$commit/report.html" >&2
		exit $status ;;
	4) echo "bisect: $commit is inconclusive, $repeat runs" >&2 ;;
	3)
		echo "bisect: $commit cannot be measured: skipped" >&2
		exit 125 ;;
	*) exit 128 ;;
	esac
done
exit 125
