#!/bin/sh
# capture.sh PAIR OUT: measures and captures both sides of workloads/PAIR on a machine with a GPU, the CUDA toolkit,
# CMake, Python 3, nsys and, for the last step, gapline. Everything lands under the folder OUT:
#
#   unprofiled.jsonl   what the program prints, ABBA-interleaved runs without a profiler, then A/A runs of the baseline
#   profiled.jsonl     the same from the captured runs
#   gpu.txt            the GPU, its driver and its clocks before and after
#   raw/               the exports as nsys wrote them: they hold the machine's environment, share none of them
#   runs/              the same, scrubbed: baseline-1.sqlite.gz, fixed-1.sqlite.gz ...
#   work.txt           the fault's size in the program's own unit, found in a first run and the same in all others
#   summary.txt        means and spreads
#
# Settings from the environment: NSYS and GAPLINE (the commands, default nsys and gapline), REPEATS (captures a side, 4),
# UNPROFILED (runs a side without a profiler, 6), STEPS (60), WARMUP (10), OPTIONS (more options of the program; with
# --fault-work N among them the fault's size is N instead of what the first run finds for --fault-ms).
set -eu
pair=$1
out=$2
here=$(cd "$(dirname "$0")" && pwd)
nsys=${NSYS:-nsys}
gapline=${GAPLINE:-gapline}
repeats=${REPEATS:-4}
unprofiled=${UNPROFILED:-6}
arguments="--steps ${STEPS:-60} --warmup ${WARMUP:-10} ${OPTIONS:-}"

mkdir -p "$out/build" "$out/raw" "$out/runs"
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

{ "$nsys" --version; date -u +%Y-%m-%d; gpu_state; } >"$out/gpu.txt"
: >"$out/unprofiled.jsonl"
: >"$out/profiled.jsonl"
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
i=1
while [ $i -le "$repeats" ]; do
	for side in $(order $i); do
		# shellcheck disable=SC2086
		"$nsys" profile --trace=cuda,nvtx,osrt --sample=none --cpuctxsw=none --force-overwrite=true \
			--export=sqlite --output="$out/raw/$side-$i" "$program" --variant "$side" $arguments |
			grep '^{' | sed "s/^{/{\"run\":$i,/" >>"$out/profiled.jsonl"
	done
	i=$((i + 1))
done
gpu_state >>"$out/gpu.txt"
python3 "$here/summarise.py" "$out" | tee "$out/summary.txt"
if ! command -v "$gapline" >/dev/null; then
	echo "capture.sh: no gapline here; make runs/ elsewhere: gapline scrub raw/NAME.sqlite -o runs/NAME.sqlite.gz" >&2
	exit 1
fi
for file in "$out"/raw/*.sqlite; do
	"$gapline" scrub --force --quiet "$file" -o "$out/runs/$(basename "$file").gz"
done
