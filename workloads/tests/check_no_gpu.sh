#!/bin/sh
# check_no_gpu.sh PROGRAM: without a GPU a workload says so in one line and exits with 3, and prints no result that a
# script could take for one. Devices that are there are hidden from it.
program=$1
out=$(mktemp) && err=$(mktemp) || exit 1
trap 'rm -f "$out" "$err"' EXIT
for variant in baseline fixed; do
	CUDA_VISIBLE_DEVICES=-1 "$program" --variant $variant --steps 4 --warmup 1 \
		--size 64 --fault-ms 1.5 --fault-work 3 --seed 7 >"$out" 2>"$err"
	status=$?
	cat "$err"
	[ $status -eq 3 ] || { echo "$variant: exit status $status, not 3"; exit 1; }
	[ ! -s "$out" ] || { echo "$variant: printed to stdout"; exit 1; }
	grep -q 'no CUDA GPU' "$err" || { echo "$variant: the message does not say that there is no GPU"; exit 1; }
	[ "$(wc -l <"$err")" -eq 1 ] || { echo "$variant: more than one line"; exit 1; }
done
# Wrong usage is another status, also without a GPU.
for wrong in "" "--variant slow" "--variant fixed --steps 0" "--variant fixed --steps 5 --warmup 5"; do
	# shellcheck disable=SC2086
	"$program" $wrong >"$out" 2>/dev/null
	status=$?
	[ $status -eq 2 ] || { echo "'$wrong': exit status $status, not 2"; exit 1; }
done
