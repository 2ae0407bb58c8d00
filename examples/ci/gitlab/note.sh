#!/usr/bin/env bash
# note.sh [--comment-on regression|change|always] FILE: writes FILE as the merge request's note of gapline, over the one that is there already. FILE is data: it goes to
# GitLab as a JSON string, and calls nobody (@name), whoever wrote it.
#
# CI_API_V4_URL, CI_MERGE_REQUEST_IID, CI_MERGE_REQUEST_PROJECT_ID   as GitLab sets them
# GAPLINE_TOKEN   a project access token with the scope `api`, a masked variable; forks' pipelines have none
set -euo pipefail

on=always
if [ "${1-}" = --comment-on ]; then on=${2-}; shift 2; fi
case $on in regression | change | always) ;; *) echo "${0##*/}: --comment-on takes regression, change or always" >&2; exit 2 ;; esac
marker='<!-- gapline -->'
file=$1
[[ $CI_MERGE_REQUEST_IID =~ ^[0-9]+$ ]] || { echo "note.sh: this is no merge request's pipeline" >&2; exit 1; }
body=$(mktemp) none=$(mktemp)
trap 'rm -f "$body" "$none"' EXIT
if [ ! -e "$file" ]; then # the job ended before there was an artifact: what is there is of another push
	printf '%s\n### Not measured\n\nThis push has no result: the job ended before gapline had one. Its log says why.\n' "$marker" >"$none"
	file=$none
fi
[ "$(head -n 1 "$file")" = "$marker" ] || { echo "note.sh: $file is not gapline's" >&2; exit 1; }
if [ -z "${GAPLINE_TOKEN-}" ]; then
	echo "no GAPLINE_TOKEN: the result is in the job's artifacts"
	exit 0
fi
notes=$CI_API_V4_URL/projects/$CI_MERGE_REQUEST_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes

# Whether there is something to say that a new comment is worth: by result.json beside FILE, which is data as well. A comment
# that is there is brought up to date whatever it says, so that none is left of an earlier push.
worth_it() {
	local result=${file%/*}/result.json wanted
	case $on in
	always) return 0 ;;
	change) wanted='.result == "error" or (.verdict.result // "" | IN("faster", "slower")) or ([.verdict.gates[]?.result] | any(. != "passed"))' ;;
	regression) wanted='.result == "error" or .verdict.result == "slower" or ([.verdict.gates[]?.result] | any(. == "failed"))' ;;
	esac
	[ -f "$result" ] && [ ! -L "$result" ] || return 0
	[ "$(head -c 67108864 "$result" | jq "$wanted")" = true ]
}

request() {
	curl --fail --silent --show-error --header @- --header 'Content-Type: application/json' "$@" \
		<<<"PRIVATE-TOKEN: $GAPLINE_TOKEN"
}

head -c 65536 "$file" | jq --raw-input --slurp '{body: (gsub("@(?=[A-Za-z0-9])"; "@\u200b") | .[0:65536])}' >"$body"
me=$(request "$CI_API_V4_URL/user" | jq -r .id)
mine='' page=1 n=100
while [ -z "$mine" ] && [ "$n" -eq 100 ]; do
	found=$(request "$notes?per_page=100&page=$page")
	mine=$(jq -r --arg marker "$marker" --arg me "$me" \
		'[.[] | select((.author.id | tostring) == $me and (.body | startswith($marker)))][0].id // empty' <<<"$found")
	n=$(jq length <<<"$found") page=$((page + 1))
done
if [ -n "$mine" ]; then
	request --request PUT --data "@$body" "$notes/$mine" >/dev/null
elif worth_it; then
	request --request POST --data "@$body" "$notes" >/dev/null
fi
