#!/usr/bin/env bash
# check_package.sh FOLDER GAPLINE: the packages are the same bytes when built twice. Fresh roots of Debian 11, 12 and 13 that
# have no network install each, find its manual pages and completion, write the demo and the example's report, the same bytes,
# and have nothing left of it when it is taken away. What the .deb says there of every pair in examples, with saved baselines
# and as a history too, is what GAPLINE says, byte for byte. check_wheel.py looks at the wheel. For `./dev check-all`.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$(realpath -m "$1")
gapline=$(realpath "$2")

skip() {
	echo "$*: the packages are not checked"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "not root"
command -v debootstrap >/dev/null || skip "debootstrap is not installed"
source=$(apt-get indextargets --format '$(REPO_URI) $(COMPONENT)' 'Created-By: Packages' | awk '$2 == "main" && $1 !~ /security/ { print $1; exit }')
[ -n "$source" ] || skip "no package source"

tools/package.sh "$folder"
before=$(sha256sum "$folder"/gapline*)
tools/package.sh "$folder" >/dev/null
[ "$before" = "$(sha256sum "$folder"/gapline*)" ] || { echo "two builds differ"; exit 1; }
echo "two builds give the same bytes"
size=$(tar -xOzf "$folder"/gapline*.tar.gz --wildcards '*/bin/gapline' | wc -c)
[ "$size" -le 6000000 ] || { echo "the program has $size bytes"; exit 1; }
/usr/bin/python3 tests/capture/check_wheel.py "$folder"/gapline*.whl
if command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error,warning "$folder"/gapline*.deb
else
	echo "lintian is not installed: the .deb is not looked at by it"
fi

# Every pair of examples as DIR/baseline and DIR/fixed, and what is said of them: pairs.sh PROGRAM OUT runs in any root.
pairs=$folder/pairs
rm -rf "$pairs" && mkdir -p "$pairs/training-step/baseline" "$pairs/training-step/fixed"
cp examples/training-step/baseline.sqlite.gz "$pairs/training-step/baseline"
cp examples/training-step/fixed.sqlite.gz "$pairs/training-step/fixed"
for tar in examples/truth/*/captures.tar.xz; do
	pair=$pairs/$(basename "$(dirname "$tar")")
	mkdir -p "$pair/all" "$pair/baseline" "$pair/fixed"
	tar -xJf "$tar" -C "$pair/all"
	find "$pair/all" -name '*baseline*.sqlite' -exec mv {} "$pair/baseline" \;
	find "$pair/all" -name '*fixed*.sqlite' -exec mv {} "$pair/fixed" \;
	rm -r "$pair/all"
done
# What is saved holds no samples of threads' stacks: it is held against profiles that have forgotten them (DIR/kept/baseline).
python3 - "$pairs" <<'EOF'
import pathlib, shutil, sqlite3, sys
for file in sorted(pathlib.Path(sys.argv[1]).glob("*/baseline/*.sqlite")):
    with sqlite3.connect(file) as db:
        stacks = {"COMPOSITE_EVENTS", "SAMPLING_CALLCHAINS"} & {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        if not stacks or not db.execute("SELECT count(*) FROM COMPOSITE_EVENTS").fetchone()[0]:
            continue
    kept = file.parent.parent / "kept/baseline" / file.name
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, kept)
    with sqlite3.connect(kept) as db:
        for table in stacks:
            db.execute(f"DELETE FROM {table}")
EOF
[ "$(ls -d "$pairs"/gil-loader-*/kept | wc -l)" -gt 0 ] || { echo "no pair with samples"; exit 1; }
cat >"$pairs/pairs.sh" <<'EOF'
set -e
program=$1 out=out # the name is part of what is said
rm -rf "$out" "$2" && mkdir "$out"
said() { # what the program says goes beside its outputs, with its exit status
	"$program" "$@" >>"$out/said" 2>&1 || echo "exit status $?" >>"$out/said"
}
for pair in */baseline; do
	pair=${pair%/baseline}
	said report --baseline "$pair/baseline" --fixed "$pair/fixed" -o "$out/$pair.html" --json "$out/$pair.json" \
		--markdown "$out/$pair.md" --junit "$out/$pair.xml" --gate 'step<=+0%' --gate 'memory<1GB'
	said save "$pair" "$pair/baseline" --db "$out/store.db"
	said report --baseline "@$pair" --fixed "$pair/fixed" --db "$out/store.db" -o "$out/saved.html" \
		--json "$out/saved.json" --gate 'step<=+0%' --gate 'memory<1GB' -q
	[ -e "$out/$pair.json" ] || continue
	wanted=$out/$pair.json
	if [ -d "$pair/kept" ]; then
		wanted=$out/kept.json
		said report --baseline "$pair/kept/baseline" --fixed "$pair/fixed" -o "$out/kept.html" --json "$wanted" \
			--gate 'step<=+0%' --gate 'memory<1GB' -q
	fi
	cmp "$out/saved.json" "$wanted"
	mv "$out/saved.html" "$out/$pair-saved.html" # phases have other numbers in it
	rm -f "$out/saved.json" "$out"/kept.*
done
for run in 1 2 3; do
	for side in baseline fixed; do
		said history add --commit "$side-$run" --time "$run" --db "$out/history.db" --force "training-step/$side"
	done
done
said save --list --db "$out/store.db"
said history report --db "$out/history.db" -o "$out/trend.html" --json "$out/trend.json"
said report @commit:baseline-1 @commit:fixed-2 --db "$out/history.db" -o "$out/commits.html" --json "$out/commits.json"
rm "$out"/*.db
mv "$out" "$2"
EOF
(cd "$pairs" && bash pairs.sh "$gapline" expected)
[ "$(ls "$pairs/expected" | wc -l)" -gt 200 ] || { echo "too few reports"; exit 1; }

# What a new user does with each of them, in a system that has seen neither gapline nor a network: install it, look at what
# was installed where it works, write the demo and the example's report, and take it away. try.sh ARTEFACT
cat >"$folder/try.sh" <<'EOF'
set -e
artefact=$1 environment=/opt/environment files=
export LC_ALL=C.UTF-8
cd /try
case $artefact in
deb) install="dpkg -i $(ls gapline*.deb)" remove="dpkg -P gapline" ;;
tar)
	folder=/opt/$(tar -tzf gapline*.tar.gz | head -n 1)
	PATH=${folder}bin:$PATH
	install="tar -C /opt -xzf $(ls gapline*.tar.gz)" remove="rm -r $folder"
	;;
wheel)
	python3 -m venv $environment
	PATH=$environment/bin:$PATH files="-not -type d"
	install="pip install --quiet --no-index $(ls gapline*.whl)" remove="pip uninstall --quiet -y gapline"
	;;
esac
listed() { # dpkg's own files are its business, and Python's what it compiled of pip, which leaves empty folders
	find / -xdev \( -path /try -o -path /var/lib/dpkg -o -path /var/log -o -path /var/cache/man \) -prune -o -name __pycache__ -prune -o \
		$files -print | sort
}
listed >before
$install >/dev/null
program=$(command -v gapline)
man -w gapline gapline-report gapline-doctor >/dev/null
if [ $artefact = deb ]; then # as the shells find it
	bash -c '. /usr/share/bash-completion/bash_completion
		_completion_loader gapline || _comp_load gapline
		complete -p gapline' >/dev/null 2>&1
	[ "$(zsh -fc 'autoload -U compinit && compinit -u -D && print $_comps[gapline]')" = _gapline ]
else # as install.md says
	bash -c '. <(gapline completion bash) && complete -p gapline' >/dev/null
fi
gapline doctor >"$artefact.doctor" || [ $? = 3 ] # no GPU
next=$(sed -n '$s/^Next: //p' "$artefact.doctor")
$next >/dev/null 2>&1 # gapline demo
mv gapline-demo.html "$artefact.demo.html"
gapline report baseline.sqlite.gz fixed.sqlite.gz -q -o "$artefact.html" --json "$artefact.json"
[ "$artefact" != deb ] || (cd pairs && sh pairs.sh gapline deb)
case $artefact in wheel) cp "$(python3 -c 'import gapline; print(gapline.__path__[0])')/bin/gapline" wheel.program ;; *) cp "$program" "$artefact.program" ;; esac
$remove >/dev/null
hash -r
if command -v gapline; then exit 1; fi
listed >after
diff before after
EOF
for release in bullseye bookworm trixie; do
	root=$folder/fresh-$release
	[ -e "$root/.ready" ] || {
		rm -rf "$root"
		debootstrap --variant=minbase --include=python3-venv,man-db,bash-completion,zsh "$release" "$root" "$source" >"$folder/log" 2>&1 ||
			{ tail "$folder/log"; exit 1; }
		touch "$root/.ready"
	}
	rm -rf "$root/try" "$root/opt/environment" && mkdir "$root/try"
	cp "$folder"/gapline*.deb "$folder"/gapline*.tar.gz "$folder"/gapline*.whl "$folder/try.sh" \
		examples/training-step/{baseline,fixed}.sqlite.gz "$root/try"
	cp -r "$pairs" "$root/try/pairs"
	for artefact in deb tar wheel; do
		unshare --net --mount bash -c 'mount -t proc proc "$0/proc" && exec chroot "$0" bash /try/try.sh $1' "$root" $artefact >"$folder/tried" || { cat "$folder/tried"; echo "$release: $artefact"; exit 1; }
		cmp "$root/try/$artefact.demo.html" examples/training-step/report.html
		cmp "$root/try/$artefact.html" examples/training-step/report.html
		cmp "$root/try/$artefact.json" examples/training-step/report.json
		cmp "$root/try/$artefact.program" "$root/try/deb.program" # what it says of all pairs was asked of one
		grep -q libgapline-cupti.so "$root/try/$artefact.doctor" || echo "$artefact: built without NVIDIA's headers, so without its own collector"
	done
	diff -r "$root/try/pairs/deb" "$pairs/expected" | head -n 20
	diff -rq "$root/try/pairs/deb" "$pairs/expected" >/dev/null || exit 1
	echo "$release: installed and taken away without a trace, three times; what it says of $(ls -d "$pairs"/*/baseline | wc -l) pairs is expected, byte for byte"
done
echo "Ubuntu and RHEL were not run: the programs ask for nothing newer than $(objdump -T "$root/try/deb.program" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)"
