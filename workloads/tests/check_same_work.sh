#!/bin/sh
# check_same_work.sh PROGRAM: all variants with a fault of the same size compute the same to the last bit, and another
# seed something else. Needs a GPU, and two for the pairs that say so.
program=$1
hash_in() { sed -n 's/.*_hash":"\([0-9a-f]*\)".*/\1/p' "$1"; }
[ -e /dev/nvidia0 ] || [ -e /dev/dxg ] || { echo "skipped: no GPU"; exit 77; }
out=$(mktemp) || exit 1
trap 'rm -f "$out"' EXIT
run() {
	"$program" "$@" --steps 24 --warmup 4 --fault-ms 1 >"$out" 2>&1
	status=$?
	cat "$out"
	if [ $status -eq 3 ] && grep -q 'needs 2 CUDA GPUs' "$out"; then
		echo "skipped: one GPU"
		exit 77
	fi
	[ $status -eq 0 ] || { echo "$*: exit status $status"; exit 1; }
}
run --variant baseline
work=$(sed -n 's/.*"fault_work":\([0-9]*\).*/\1/p' "$out")
first=$(hash_in "$out")
[ -n "$first" ] && [ -n "$work" ] || { echo "no result"; exit 1; }
variants=$("$program" --help | sed -n 's/^usage: .* --variant \([a-z|]*\) .*/\1/p' | tr '|' ' ')
for variant in $variants; do
	run --variant "$variant" --fault-work "$work"
	[ "$(hash_in "$out")" = "$first" ] || { echo "$variant: hash $(hash_in "$out"), not $first"; exit 1; }
done
run --variant fixed --fault-work "$work" --seed 2
[ "$(hash_in "$out")" != "$first" ] || { echo "another seed, but the same result"; exit 1; }
