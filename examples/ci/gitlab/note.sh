#!/usr/bin/env bash
# note.sh FILE: writes FILE as the merge request's note of gapline, over the one that is there already. FILE is data: it goes to
# GitLab as a JSON string, and calls nobody (@name), whoever wrote it.
#
# CI_API_V4_URL, CI_MERGE_REQUEST_IID, CI_MERGE_REQUEST_PROJECT_ID   as GitLab sets them
# GAPLINE_TOKEN   a project access token with the scope `api`, a masked variable; forks' pipelines have none
set -euo pipefail

marker='<!-- gapline -->'
file=$1
[[ $CI_MERGE_REQUEST_IID =~ ^[0-9]+$ ]] || { echo "note.sh: this is no merge request's pipeline" >&2; exit 1; }
[ "$(head -n 1 "$file")" = "$marker" ] || { echo "note.sh: $file is not gapline's" >&2; exit 1; }
if [ -z "${GAPLINE_TOKEN-}" ]; then
	echo "no GAPLINE_TOKEN: the result is in the job's artifacts"
	exit 0
fi
notes=$CI_API_V4_URL/projects/$CI_MERGE_REQUEST_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes

request() {
	curl --fail --silent --show-error --header @- --header 'Content-Type: application/json' "$@" \
		<<<"PRIVATE-TOKEN: $GAPLINE_TOKEN"
}

body=$(mktemp)
trap 'rm -f "$body"' EXIT
head -c 65536 "$file" | jq --raw-input --slurp '{body: (gsub("@(?=[A-Za-z0-9])"; "@\u200b") | .[0:65536])}' >"$body"
me=$(request "$CI_API_V4_URL/user" | jq -r .id)
mine=$(request "$notes?per_page=100" |
	jq -r --arg marker "$marker" --arg me "$me" \
		'[.[] | select((.author.id | tostring) == $me and (.body | startswith($marker)))][0].id // empty')
if [ -n "$mine" ]; then
	request --request PUT --data "@$body" "$notes/$mine" >/dev/null
else
	request --request POST --data "@$body" "$notes" >/dev/null
fi
