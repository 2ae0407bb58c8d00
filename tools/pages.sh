#!/bin/sh
# pages.sh FOLDER GAPLINE...: manual pages and completion, from what the command says of itself.
set -eu
folder=$1
shift
mkdir -p "$folder/man1"
"$@" manual >"$folder/man1/gapline.1"
"$@" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r command; do
	"$@" manual "$command" >"$folder/man1/gapline-$command.1"
done
"$@" completion bash >"$folder/gapline"
"$@" completion zsh >"$folder/_gapline"
"$@" completion fish >"$folder/gapline.fish"
