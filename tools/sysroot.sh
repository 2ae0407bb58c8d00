# Headers, libraries and the compiler of an older distribution in a folder, as a user: its packages are fetched by apt, which
# checks their signatures, and unpacked; nothing is installed and no program of theirs runs as root. Sourced by package.sh
# and tests/cmd/check_old_compiler.sh.

# What apt-get of another distribution is told. $1: folder, $2: release, $3: its source, the rest: arguments of apt-get.
# sysroot_architecture: of its packages, where that is not this machine's.
sysroot_apt() {
	local state=$1/apt release=$2 source=$3 components=main
	shift 3
	case $source in *ubuntu*) components="main universe" ;; esac
	mkdir -p "$state/state/lists/partial" "$state/cache/archives/partial"
	printf "%s $source $release $components\n" deb deb-src >"$state/sources"
	: >"$state/status"
	apt-get -qq -y -o Dir::Etc::sourcelist="$state/sources" -o Dir::Etc::sourceparts=/dev/null -o Dir::State="$state/state" \
		-o Dir::State::status="$state/status" -o Dir::Cache="$state/cache" -o APT::Sandbox::User= \
		${sysroot_architecture:+-o APT::Architecture=$sysroot_architecture -o APT::Architectures=$sysroot_architecture} \
		-o APT::Install-Recommends=0 -o Acquire::Retries=2 "$@"
}

# $1: folder, $2: release, $3: its source, the rest: packages. Makes FOLDER/root; what the packages are is in a dpkg
# database (DPKG_ADMINDIR=FOLDER/root/var/lib/dpkg). Nothing to do where they are there.
sysroot_unpack() {
	local folder=$1 release=$2 source=$3 root=$1/root stamp package name link
	shift 3
	stamp="$release $source $*"
	if [ "$(cat "$root/.ready" 2>/dev/null)" != "$stamp" ]; then
		rm -rf "$root" "$folder/apt"
		mkdir -p "$root/var/lib/dpkg/info"
		sysroot_apt "$folder" "$release" "$source" update || return 1
		sysroot_apt "$folder" "$release" "$source" --download-only install "$@" || return 1
		for package in "$folder"/apt/cache/archives/*.deb; do
			dpkg -x "$package" "$root" || return 1
			name=$(dpkg-deb -f "$package" Package)
			{ dpkg-deb -f "$package" && echo "Status: install ok installed" && echo; } >>"$root/var/lib/dpkg/status"
			dpkg-deb --fsys-tarfile "$package" | tar -t | sed 's|^\.||; s|/$||' >"$root/var/lib/dpkg/info/$name.list"
		done
		# links to /lib/… are meant to be of this root
		find "$root" -type l -lname '/*' -printf '%p\n' | while read -r link; do
			ln -sfn "$root$(readlink "$link")" "$link"
		done
		rm -rf "$folder/apt"
		echo "$stamp" >"$root/.ready"
	fi
}

# The same, and the compiler FOLDER/compiler/cc from among the packages.
sysroot_make() {
	local folder=$1 root=$1/root file libraries
	libraries=usr/lib/$(gcc -print-multiarch)
	sysroot_unpack "$@" || return 1
	# The compiler is run by this machine's C library, with the libraries that only it needs beside it.
	rm -rf "$folder/compiler"
	mkdir -p "$folder/compiler"
	for file in "$root/$libraries"/lib{isl,mpc,mpfr,gmp,bfd,opcodes,ctf}*.so*; do
		[ ! -e "$file" ] || cp -P "$file" "$folder/compiler"
	done
	cat >"$folder/compiler/cc" <<END
#!/bin/sh
LD_LIBRARY_PATH=$folder/compiler exec $root/usr/bin/gcc --sysroot=$root -B$root/usr/bin "\$@"
END
	chmod +x "$folder/compiler/cc"
}
