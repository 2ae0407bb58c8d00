#!/usr/bin/env bash
# check_docker.sh BUILD_DIR: the Dockerfile builds, and the image and the program alone say what the examples say.
#
# No Docker daemon and no image from a registry: buildah builds on a base that debootstrap makes of this distribution, from
# its own package sources. NVIDIA's headers and CUPTI are taken from this machine, where they are; else the libraries that
# need them are left out. README's `docker run` lines are run word for word by a stand-in for docker that starts the image
# through buildah; there is no GPU behind `--gpus`, so the image that they meet has a stand-in for nsys, which plays
# recorded profiles, and a `python` that does nothing. The stage that holds the program alone is copied into the base and into an image of the C library
# and nothing else, and speaks there, too. The base is kept in BUILD_DIR. Skipped (77) where that cannot work: not root, tools missing, no package source, no chroot.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/support/debian.sh
folder=$(realpath -m "$1")/docker
examples=$PWD/examples/training-step

skip() {
	echo "$*: the Dockerfile is not checked"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "not root"
for tool in buildah apt-get unshare; do
	command -v "$tool" >/dev/null || skip "$tool is not installed"
done
. /etc/os-release
[ -n "$(debian_source)" ] || skip "no package source of ${VERSION_CODENAME:-this distribution}"
unshare --mount true 2>/dev/null || skip "mounts are not allowed here"

mkdir -p "$folder"
base=$folder/base-$VERSION_CODENAME.tar
log=$folder/log
: >"$log"
fail() {
	tail -n 40 "$log"
	echo "FAIL $*"
	exit 1
}

if [ ! -e "$base" ]; then
	echo "making a base of $VERSION_CODENAME"
	rm -rf "$folder/root"
	debian_make "$folder/root" "$folder/tools" >>"$log" 2>&1 || {
		tail -n 5 "$log"
		skip "debootstrap failed" # a network that is away is no fault of ours
	}
	rm -rf "$folder/root/var/cache/apt/archives/"*.deb "$folder/root/dev"
	mkdir "$folder/root/dev"
	tar -C "$folder/root" -cf "$base.part" .
	mv "$base.part" "$base"
	rm -rf "$folder/root"
fi

# Everything of buildah's lies in the build folder and goes away at the end.
echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$folder/policy.json"
export BUILDAH_ISOLATION=chroot
# Layers lie above each other where overlays can be mounted; else each is a copy of all below it.
driver=vfs
mkdir -p "$folder/storage/"{lower,upper,work,merged}
if mount -t overlay -o "lowerdir=$folder/storage/lower,upperdir=$folder/storage/upper,workdir=$folder/storage/work" overlay \
	"$folder/storage/merged" 2>/dev/null; then
	umount "$folder/storage/merged"
	driver=overlay
fi
rm -rf "$folder/storage"
store=(--root "$folder/storage" --runroot "$folder/run" --storage-driver="$driver")
policy=(--signature-policy "$folder/policy.json")
clean() {
	buildah "${store[@]}" rm --all >/dev/null 2>&1 || true
	buildah "${store[@]}" rmi --all --force >/dev/null 2>&1 || true
	rm -rf "$folder/storage" "$folder/run" "$folder/out" "$folder/toolkit" "$folder/bare" "$folder/standin"
}
fresh_out() {
	rm -rf "$folder/out"
	mkdir "$folder/out"
	chown 12345:12345 "$folder/out"
}
clean
trap clean EXIT
fresh_out

# $1: name, the rest: folders or archives of which an image is made.
image_of() {
	local name=$1 scratch
	shift
	scratch=$(buildah "${store[@]}" from scratch)
	buildah "${store[@]}" add --quiet "$scratch" "$@" / >>"$log" 2>&1 && buildah "${store[@]}" commit --quiet --rm \
		"${policy[@]}" "$scratch" "localhost/gapline-$name" >>"$log" 2>&1 || fail "$name is no image"
}
# $1: tag, the rest: options and the context.
build() {
	local tag=$1
	shift
	buildah "${store[@]}" bud --isolation=chroot --layers "${policy[@]}" --pull-never --tag "localhost/$tag" "$@" \
		>>"$log" 2>&1 || fail "$tag is not built"
}
# $1: image. Its container, made once.
container_of() {
	local name=localhost-$1
	buildah "${store[@]}" inspect --type container "$name" >/dev/null 2>&1 ||
		buildah "${store[@]}" from "${policy[@]}" --pull-never --name "$name" "localhost/$1" >>"$log" 2>&1
	echo "$name"
}
# $1: image, the rest: a command. As `docker run --user … -v …` would: another user, the examples read-only, the report in
# a folder of that user's.
in_image() {
	local container
	container=$(container_of "$1")
	shift
	buildah "${store[@]}" run --isolation=chroot --user 12345:12345 --workingdir /work --volume "$examples:/examples:ro" \
		--volume "$folder/out:/work:rw" "$container" -- "$@"
}
# $1: image. The version, and a report of the examples, which is theirs byte for byte.
speaks() {
	local said
	said=$(in_image "$1" gapline --version 2>>"$log") || fail "gapline --version in $1: status $?"
	[ "$said" = "$(sed -n 's/^project(gapline VERSION \([0-9.]*\).*/gapline \1/p' CMakeLists.txt)" ] ||
		fail "gapline --version in $1 says $said"
	fresh_out
	in_image "$1" gapline report /examples/baseline.sqlite.gz /examples/fixed.sqlite.gz -o report.html --json report.json --quiet \
		>>"$log" 2>&1 || fail "gapline report in $1"
	for file in report.html report.json; do
		cmp "$folder/out/$file" "$examples/$file" || fail "$1: $file differs from the example's"
		[ "$(stat -c %u "$folder/out/$file")" = 12345 ] || fail "$1: $file does not belong to the user"
	done
	in_image "$1" gapline doctor >"$folder/doctor" 2>>"$log" || [ $? = 3 ] || fail "gapline doctor in $1" # 3: no GPU
	grep -q '^folder *ok' "$folder/doctor" || fail "gapline doctor in $1 says $(cat "$folder/doctor")"
	[ ! -e "$cuda" ] || grep -q '^collector *ok */usr/local/lib/gapline/libgapline-cupti.so$' "$folder/doctor" ||
		fail "no collector in $1: $(cat "$folder/doctor")"
}

# The base with NVIDIA's headers and CUPTI, where this machine has them: what nvidia/cuda's images have of a toolkit.
rm -rf "$folder/toolkit"
cuda=$folder/toolkit/usr/local/cuda
for place in /usr/local/cuda/extras/CUPTI /usr/local/cuda; do
	[ -e "$place/include/cupti.h" ] || continue
	mkdir -p "$cuda/extras/CUPTI/lib64"
	cp -rL /usr/local/cuda/include "$cuda"
	cp -rL "$place/include" "$cuda/extras/CUPTI"
	for library in "$place"/lib64/libcupti.so.[0-9]*; do
		[ ! -e "$library" ] || cp -L "$library" "$cuda/extras/CUPTI/lib64"
	done
	break
done
image_of base "$base"
devel=base
[ ! -e "$cuda" ] || { devel=devel && image_of devel "$base" "$folder/toolkit"; }

echo "building the program alone"
build gapline-program --build-arg BASE=localhost/gapline-$devel --target program --file Dockerfile .
echo "building the image"
build gapline --build-arg BASE=localhost/gapline-$devel --build-arg BASE_RUNTIME=localhost/gapline-base --file Dockerfile .

# In any image, by the line that README says: FROM the base, and from one that holds the C library and nothing else.
printf 'FROM localhost/gapline-base\nCOPY --from=localhost/gapline-program / /\n' >"$folder/Dockerfile"
build gapline-in-base --file "$folder/Dockerfile" "$examples"
in_image gapline-in-base sh -c 'ldd /usr/local/bin/gapline /usr/local/lib/gapline/*.so' 2>>"$log" | grep -v ':$' >"$folder/ldd" ||
	fail "ldd of the program alone"
! grep -v -E '(linux-vdso|ld-linux[a-z0-9_-]*|lib(c|m|dl|pthread))\.so\.' "$folder/ldd" ||
	fail "the program alone needs more than the C library"
root=$(buildah "${store[@]}" mount "$(container_of gapline-in-base)")
rm -rf "$folder/bare"
mkdir -p -m 1777 "$folder/bare/tmp"
for file in $(grep -o '/[^ ]*' "$folder/ldd" | sort -u); do
	mkdir -p "$folder/bare/$(dirname "$file")"
	cp "$(chroot "$root" readlink -f "$file" | sed "s|^|$root|")" "$folder/bare$file"
done
image_of bare "$folder/bare"
sed -i 's/gapline-base/gapline-bare/' "$folder/Dockerfile"
build gapline-in-bare --file "$folder/Dockerfile" "$examples"
program=$(buildah "${store[@]}" mount "$(container_of gapline-program)")
[ -z "$(find "$program" -not -type d -not -path "$program/usr/local/*")" ] || fail "the program alone is not all in /usr/local"
for file in bin/gapline share/man/man1/gapline.1 share/bash-completion/completions/gapline lib/gapline/libgapline-osrt.so \
	share/doc/gapline/gapline.spdx.json; do
	[ -e "$program/usr/local/$file" ] || fail "the program alone has no $file"
done
echo "the program alone: $(du -sh --apparent-size "$program" | cut -f1), $(objdump -T "$program/usr/local/bin/gapline" "$program"/usr/local/lib/gapline/*.so |
	grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1) or newer"

for image in gapline-in-base gapline-in-bare gapline; do
	speaks $image
done
# What was said last is the image's, which has CUPTI too.
[ ! -e "$cuda" ] || grep -q '^CUPTI *ok */usr/lib/[a-z0-9_]*-linux-gnu/libcupti' "$folder/doctor" ||
	fail "no CUPTI in the image: $(cat "$folder/doctor")"
settings=$(buildah "${store[@]}" inspect --format \
	'{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.User}} {{.OCIv1.Config.WorkingDir}}' "$(container_of gapline)")
[ "$settings" = '[gapline] 65534:65534 /work' ] || fail "the image's settings are: $settings"
echo "the program in an image with nothing but the C library, in the base and in its own image: the report is the example's, byte for byte"

# README's lines. What they run in: the image, a stand-in for nsys, which plays base-#.sqlite of the folder for train.py, and
# fixed-#.sqlite for train_prefetch.py, and a python. As nsys does it notes the host's name, and of the GPU a UUID, which
# --gpus has chosen.
mkdir "$folder/standin"
cp tests/support/standin_nsys.py "$folder/standin"
cat >"$folder/standin/nsys" <<'EOF'
#!/bin/sh
for word; do
	case $word in
	train.py) set -- "$@" base-#.sqlite ;;
	train_prefetch.py) set -- "$@" fixed-#.sqlite ;;
	--output=*) output=${word#--output=} ;;
	esac
done
[ "$1" = export ] || exec /usr/bin/python3 -I /usr/local/bin/standin_nsys.py "$@"
/usr/bin/python3 -I /usr/local/bin/standin_nsys.py "$@" || exit
exec /usr/bin/python3 -I /usr/local/bin/noted.py "$output" "GPU-$STANDIN_GPU"
EOF
cat >"$folder/standin/noted.py" <<'EOF'
import socket
import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as db:
    db.execute("CREATE TABLE TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT, name TEXT, nameEnum INTEGER, value TEXT)")
    db.execute("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, '', 'Hostname', 1, ?)", (socket.gethostname(),))
    db.execute("ALTER TABLE TARGET_INFO_GPU ADD COLUMN uuid TEXT")
    db.execute("UPDATE TARGET_INFO_GPU SET uuid = ?", (sys.argv[2],))
EOF
printf '#!/bin/sh\nsleep 0.1\n' >"$folder/standin/python"
chmod 755 "$folder/standin/"*
cat >"$folder/standin/Dockerfile" <<'EOF'
FROM localhost/gapline
USER 0:0
# A collector that would be chosen, were it there: no GPU, nothing to record.
RUN rm -f /usr/local/lib/gapline/libgapline-cupti.so && apt-get update && apt-get install -y --no-install-recommends python3
COPY nsys python standin_nsys.py noted.py /usr/local/bin/
USER 65534:65534
EOF
build gapline-standin --file "$folder/standin/Dockerfile" "$folder/standin"
# A container of its own for every run, whose host has the container's name.
docker() {
	local user=65534:65534 volumes=() gpu=11111111-1111-1111-1111-111111111111 container
	[ "$1" = run ] || fail "README: docker $1 cannot be played"
	shift
	while [ "${1#-}" != "$1" ]; do
		case $1 in
		--rm) shift ;;
		--gpus) [ "$2" = all ] || gpu=$2 && shift 2 ;;
		--user) user=$2 && shift 2 ;;
		-v) volumes+=(--volume "$2:rw") && shift 2 ;;
		*) fail "README: docker run $1 cannot be played" ;;
		esac
	done
	[ "$1" = gapline ] || fail "README: the image is called $1"
	shift
	container=$(buildah "${store[@]}" from "${policy[@]}" --pull-never localhost/gapline-standin)
	buildah "${store[@]}" run --isolation=chroot --user "$user" --workingdir /work --env STANDIN_GPU="$gpu" "${volumes[@]}" \
		"$container" -- gapline "$@"
}
fresh_out
python3 - "$folder/out" <<'EOF'
import pathlib
import sys

sys.path.insert(0, "tests/support")
import tiny_profile

for i in range(4):
    tiny_profile.write(pathlib.Path(sys.argv[1]) / f"base-{i}.sqlite", seed=i + 1)
    tiny_profile.write(pathlib.Path(sys.argv[1]) / f"fixed-{i}.sqlite", load=50_000, seed=i + 11)
EOF
chown 12345:12345 "$folder/out/"*
awk '/^    docker run /{on = 1} on {sub(/ +# .*/, ""); print; if (!/\\$/) on = 0}' README.md >"$folder/lines"
ran=0
while read -r line; do
	while [ "${line%\\}" != "$line" ]; do # goes on in the next
		read -r next
		line="${line%\\} $next"
	done
	(
		cd "$folder/out"
		id() { echo 12345; } # the caller
		eval "$line" </dev/null >"$folder/said" 2>&1
	) || { [ $? = 3 ] && [[ $line = *" gapline doctor" ]]; } || fail "$line: $(cat "$folder/said")" # 3: no GPU
	ran=$((ran + 1))
	case $line in
	*" gapline doctor") grep -q '^nsys .* /usr/local/bin/nsys' "$folder/said" && grep -q '^folder *ok' "$folder/said" || fail "$line: $(cat "$folder/said")" ;;
	*) [ "$(stat -c %u:%g "$folder/out/report/report.html")" = 12345:12345 ] || fail "$line: whose report is that?" ;;
	esac
done <"$folder/lines"
[ "$ran" = 2 ] || fail "$ran docker run lines in README.md"
python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); assert r["verdict"]["result"] == "faster" and r["fixed"]["source"]["collector"] == "nsys", r["verdict"]' \
	"$folder/out/report/report.json" || fail "the report of README's line"
echo "README's $ran docker run lines, without a GPU: doctor, and a report that belongs to the caller"

# A recipe inside the image, and the demo.
pair=$examples
examples=$PWD/examples
in_image gapline-standin bash /examples/ci/compare.sh --profiles recipe /examples/training-step/baseline.sqlite.gz \
	/examples/training-step/fixed.sqlite.gz >>"$log" 2>&1 || fail "the recipe in the image"
for file in report.html comment.md gapline.xml status; do
	[ "$(stat -c %u "$folder/out/recipe/$file")" = 12345 ] || fail "the recipe's $file"
done
[ "$(cat "$folder/out/recipe/status")" = 0 ] || fail "the recipe's status"
in_image gapline-standin gapline demo -q >>"$log" 2>&1 || fail "gapline demo in the image"
cmp "$folder/out/gapline-demo.html" "$pair/report.html" || fail "gapline demo writes another report in the image"
echo "a recipe and the demo in the image"

# Two containers on one GPU are one session, on two GPUs they are two. Three captures a side, in turns, each in a container of
# its own, of steps that are 3 % apart: sides that share no session have a direction beyond 8 % only.
fresh_out
python3 - "$folder/out" <<'EOF'
import pathlib
import sys

sys.path.insert(0, "tests/support")
import tiny_profile

for i in range(6):
    tiny_profile.write(pathlib.Path(sys.argv[1]) / f"{('base', 'fixed')[i % 2]}-{i // 2}.sqlite", seed=i + 1, jitter=4_000,
                       load=400_000 - 27_000 * (i % 2), started=1_795_000_000_000_000_000 + i * 5_000_000_000)
EOF
chown 12345:12345 "$folder/out/"*
in_container() { # $1: the GPU, the rest: of gapline
	(cd "$folder/out" && docker run --rm --gpus "$1" --user 12345:12345 -v "$PWD:/work" gapline "${@:2}" </dev/null >>"$log" 2>&1) ||
		fail "gapline $2 in a container"
}
other=22222222-2222-2222-2222-222222222222
for fixed in all $other; do
	rm -f "$folder/out/"*-count.sqlite
	for run in 0 1 2; do
		in_container all capture -o "slow-$run.sqlite" --force -- python train.py
		in_container $fixed capture -o "$fixed-$run.sqlite" -- python train_prefetch.py
	done
	in_container all report --baseline 'slow-?.sqlite' --fixed "$fixed-?.sqlite" --json $fixed.json
done
python3 - "$folder/out" $other <<'EOF' || fail "sessions of containers"
import json
import pathlib
import re
import sqlite3
import sys

folder, other = pathlib.Path(sys.argv[1]), sys.argv[2]
hosts = set()
for gpu, result in ("all", "faster"), (other, "inconclusive"):
    verdict = json.loads((folder / f"{gpu}.json").read_text())["verdict"]
    said = [r["text"] for r in verdict["reasons"] if r["id"].startswith("sessions_")]
    assert verdict["result"] == result, (gpu, verdict["result"], verdict["reasons"])
    assert len(said) == (gpu == other) and all("on another GPU." in text for text in said), said
    for path in folder.glob(f"{gpu}-?.sqlite"):
        hosts.add(sqlite3.connect(path).execute("SELECT value FROM TARGET_INFO_SYSTEM_ENV WHERE name = 'Hostname'").fetchone()[0])
assert len(hosts) == 6 and all(re.fullmatch("[0-9a-f]{12}", host) for host in hosts), hosts
EOF
echo "twelve captures in containers of their own: sides of one GPU are one session, of two GPUs two"
