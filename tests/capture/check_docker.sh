#!/usr/bin/env bash
# check_docker.sh BUILD_DIR: the Dockerfile builds, and the image says what the examples say.
#
# No Docker daemon and no image from a registry: buildah builds on a base that debootstrap makes of this distribution, from
# its own package sources. The CUDA toolkit is not in it, so the libraries that need its headers are left out. The base
# is kept in BUILD_DIR. Skipped (77) where that cannot work: not root, tools missing, no package source, no chroot.
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
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
store=(--root "$folder/storage" --runroot "$folder/run" --storage-driver=vfs)
policy=(--signature-policy "$folder/policy.json")
clean() {
	buildah "${store[@]}" rm --all >/dev/null 2>&1 || true
	buildah "${store[@]}" rmi --all --force >/dev/null 2>&1 || true
	rm -rf "$folder/storage" "$folder/run" "$folder/out"
}
clean
trap clean EXIT

scratch=$(buildah "${store[@]}" from scratch)
buildah "${store[@]}" add --quiet "$scratch" "$base" / >>"$log" 2>&1 || fail "the base cannot be unpacked"
buildah "${store[@]}" commit --quiet --rm "${policy[@]}" "$scratch" localhost/gapline-base >>"$log" 2>&1 ||
	fail "the base is no image"

echo "building the image"
buildah "${store[@]}" bud --isolation=chroot "${policy[@]}" --pull-never --build-arg BASE=localhost/gapline-base \
	--build-arg BASE_RUNTIME=localhost/gapline-base --tag localhost/gapline --file Dockerfile . >>"$log" 2>&1 ||
	fail "the image is not built"

# As `docker run --user … -v …` would: another user, the examples read-only, the report in a folder of that user's.
mkdir "$folder/out"
chown 12345:12345 "$folder/out"
image=$(buildah "${store[@]}" from "${policy[@]}" --pull-never localhost/gapline)
gapline() {
	buildah "${store[@]}" run --isolation=chroot --user 12345:12345 --volume "$examples:/examples:ro" \
		--volume "$folder/out:/work:rw" "$image" -- gapline "$@"
}
settings=$(buildah "${store[@]}" inspect --format \
	'{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.User}} {{.OCIv1.Config.WorkingDir}}' "$image")
[ "$settings" = '[gapline] 65534:65534 /work' ] || fail "the image's settings are: $settings"
[ "$(gapline --version)" = "$(sed -n 's/^project(gapline VERSION \([0-9.]*\).*/gapline \1/p' CMakeLists.txt)" ] ||
	fail "gapline --version"
gapline report /examples/baseline.sqlite.gz /examples/fixed.sqlite.gz -o report.html --json report.json --quiet \
	>>"$log" 2>&1 || fail "gapline report in the image"
for file in report.html report.json; do
	cmp "$folder/out/$file" "$examples/$file" || fail "$file differs from the example's"
	[ "$(stat -c %u "$folder/out/$file")" = 12345 ] || fail "$file does not belong to the user"
done
echo "the image's report is the example's, byte for byte"
