#!/usr/bin/env bash
# check_cases.sh GAPLINE: what GAPLINE says of small profiles that were made to deceive it, held against the truth that
# lies beside them (../shared/cases beside the repository, or GAPLINE_CASES). Skipped (77) where there are none.
set -euo pipefail
cases=${GAPLINE_CASES:-$(dirname "$0")/../../../shared/cases}
[ -x "$cases/check" ] || { echo "no cases here: nothing was held against the truth"; exit 77; }
said=$("$cases/check" "$1") || { echo "$said"; exit 1; }
[ -z "$said" ] || { echo "$said"; exit 1; }
echo "no untruth in $(find "$cases" -mindepth 1 -maxdepth 1 -type d | wc -l) cases"
