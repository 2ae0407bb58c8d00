#!/bin/sh
# capture.sh PAIR OUT: measures and captures both sides of workloads/PAIR on a machine with a GPU, the CUDA toolkit,
# CMake, Python 3 and gapline. Everything lands under the folder OUT:
#
#   unprofiled.jsonl   what the program prints, ABBA-interleaved runs with nothing beside them, then A/A runs of the baseline
#   stopwatch.jsonl    the same from gapline run's timed runs
#   profiled.jsonl     the same from its recorded runs
#   gpu.txt            the GPU, its driver and its clocks before and after
#   raw/               what gapline run wrote: profiles, logs, the report. They hold the machine's environment, share none
#   runs/              the profiles, scrubbed: baseline-1.sqlite.gz, fixed-1.sqlite.gz ...
#   work.txt           the fault's size in the program's own unit, found in a first run and the same in all others
#   summary.txt        means and spreads, and the report's speedup beside the programs' own
#
# Settings from the environment: GAPLINE (the command, default gapline), COLLECTOR (auto, cupti or nsys), REPEATS (recorded
# runs a side, 4), STOPWATCH (timed runs a side, 5), UNPROFILED (runs a side with nothing beside them, 6), STEPS (60),
# WARMUP (10), OPTIONS (more options of the program; with --fault-work N among them the fault's size is N instead of what
# the first run finds for --fault-ms).
set -eu
pair=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
gapline=${GAPLINE:-gapline}
unprofiled=${UNPROFILED:-6}
warmup=${WARMUP:-10}
arguments="--steps ${STEPS:-60} --warmup $warmup ${OPTIONS:-}"

mkdir -p "$out/build" "$out/runs"
out=$(cd "$out" && pwd)
cmake -S "$here" -B "$out/build" -DCMAKE_BUILD_TYPE=RelWithDebInfo >"$out/build.log"
cmake --build "$out/build" --target "$pair" >>"$out/build.log"
program=$out/build/$pair

gpu_state() {
	nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,temperature.gpu,power.draw,pstate \
		--format=csv || echo "no nvidia-smi"
}
# ABBA: baseline fixed, fixed baseline, ... so that a drift of the machine falls on both sides alike.
order() {
	if [ $(($1 % 2)) -eq 1 ]; then echo "baseline fixed"; else echo "fixed baseline"; fi
}
# The last line of JSON in each of the logs SIDE-NUMBER$1, with the run's number in it.
printed() {
	for log in "$out"/raw/baseline-*"$1" "$out"/raw/fixed-*"$1"; do
		number=$(basename "$log" "$1" | sed 's/.*-//')
		case $number in *[!0-9]*) continue ;; esac # another kind of log
		[ -e "$log" ] && grep '^{' "$log" | tail -1 | sed "s/^{/{\"run\":$number,/"
	done
}

{ "$gapline" --version; date -u +%Y-%m-%d; gpu_state; } >"$out/gpu.txt"
: >"$out/unprofiled.jsonl"
# shellcheck disable=SC2086
first=$("$program" --variant baseline $arguments)
echo "$first" | sed 's/.*"fault_work":\([0-9]*\).*/\1/' >"$out/work.txt"
arguments="$arguments --fault-work $(cat "$out/work.txt")"
i=1
while [ $i -le "$unprofiled" ]; do
	for side in $(order $i); do
		# shellcheck disable=SC2086
		"$program" --variant "$side" $arguments >>"$out/unprofiled.jsonl"
	done
	i=$((i + 1))
done
i=1
while [ $i -le 2 ]; do
	# shellcheck disable=SC2086
	"$program" --variant baseline $arguments | sed 's/^{/{"series":"A\/A",/' >>"$out/unprofiled.jsonl"
	i=$((i + 1))
done
# The window begins where the program's own clock does.
# shellcheck disable=SC2086
"$gapline" run --force --quiet --collector "${COLLECTOR:-auto}" --trace cuda,nvtx,osrt --warmup "$warmup" \
	--recorded "${REPEATS:-4}" --repeat "${STOPWATCH:-5}" -o "$out/raw" \
	--baseline -- "$program" --variant baseline $arguments --fixed -- "$program" --variant fixed $arguments
printed .stopwatch.log >"$out/stopwatch.jsonl"
printed .log >"$out/profiled.jsonl"
gpu_state >>"$out/gpu.txt"
differ=0
python3 "$here/summarise.py" "$out" >"$out/summary.txt" || differ=$?
cat "$out/summary.txt"
for file in "$out"/raw/baseline-*.sqlite "$out"/raw/fixed-*.sqlite; do
	"$gapline" scrub --force --quiet "$file" -o "$out/runs/$(basename "$file").gz"
done
exit "$differ"
