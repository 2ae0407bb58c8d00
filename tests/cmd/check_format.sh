#!/usr/bin/env bash
# Whether the C sources are in the style of .clang-format; `./dev format` puts them there. Another version of
# clang-format than the style was made with would format some lines differently: then nothing is checked (77).
set -euo pipefail
cd "$(dirname "$0")/../.."

for tool in clang-format-14 clang-format; do
	case $("$tool" --version 2>/dev/null) in *'version 14.'*) break ;; esac
	tool=
done
if [ -z "$tool" ]; then
	echo "clang-format 14 is not installed: the format is not checked"
	exit 77
fi
mapfile -t sources < <(find gen tests bench workloads tools \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) 2>/dev/null | sort)
[ "${#sources[@]}" -gt 0 ] || {
	echo "no source was found"
	exit 1
}
"$tool" --dry-run -Werror "${sources[@]}"
echo "${#sources[@]} sources are in the project's style"
