#!/bin/sh
# pages.sh GAPLINE FOLDER: manual pages and completion, from what the command says of itself.
set -eu
gapline=$1 folder=$2
mkdir -p "$folder/man1"
"$gapline" manual >"$folder/man1/gapline.1"
"$gapline" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r command; do
	"$gapline" manual "$command" >"$folder/man1/gapline-$command.1"
done
"$gapline" completion bash >"$folder/gapline"
"$gapline" completion zsh >"$folder/_gapline"
"$gapline" completion fish >"$folder/gapline.fish"
