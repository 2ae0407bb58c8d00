#!/bin/sh
# check_same_work.sh PROGRAM: both variants learn, and compute the same losses to the last bit, whatever the size of the
# fault. Needs a GPU.
program=$1
hash_of() {
	"$program" "$@" --steps 24 --warmup 4 --size 256 --batch 512 | tee /dev/stderr | sed 's/.*"loss_hash":"\([0-9a-f]*\)".*/\1/'
}
[ -e /dev/nvidia0 ] || [ -e /dev/dxg ] || { echo "skipped: no GPU"; exit 77; }
first=$(hash_of --variant baseline --fault-ms 1)
[ -n "$first" ] || { echo "no result"; exit 1; }
for options in "--variant fixed --fault-ms 1" "--variant fixed --fault-ms 0" "--variant baseline --fault-ms 3"; do
	# shellcheck disable=SC2086
	other=$(hash_of $options)
	[ "$other" = "$first" ] || { echo "$options: hash $other, not $first"; exit 1; }
done
other=$(hash_of --variant fixed --fault-ms 0 --seed 2)
[ "$other" != "$first" ] || { echo "another seed, but the same losses"; exit 1; }
