# A Debian or Ubuntu like this machine's in a folder, from the package source that the machine itself uses. Sourced by
# check_docker and ./dev check-all --contained; nothing is installed outside of that folder.

# The address of this distribution's packages; nothing where there is none.
debian_source() {
	(
		. /etc/os-release
		apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
			awk -v release="${VERSION_CODENAME:-}" '$2 == release && $3 == "main" { print $1; exit }'
	)
}

# $1: the folder, which must not exist; $2: where a debootstrap is unpacked if none is installed.
debian_make() {
	local source components=main debootstrap=debootstrap
	source=$(debian_source)
	[ -n "$source" ] || {
		echo "no package source of this distribution" >&2
		return 1
	}
	if ! command -v debootstrap >/dev/null; then
		mkdir -p "$2"
		(cd "$2" && apt-get download -qq debootstrap && dpkg -x debootstrap_*.deb .) || return 1
		export DEBOOTSTRAP_DIR=$2/usr/share/debootstrap
		debootstrap=$2/usr/sbin/debootstrap
	fi
	(
		. /etc/os-release
		[ "$ID" != ubuntu ] || components=main,universe
		"$debootstrap" --variant=minbase --components="$components" "$VERSION_CODENAME" "$1" "$source"
	)
}
