#!/usr/bin/env bash
# comment.sh [--comment-on regression|change|always] FILE: writes FILE as the pull request's comment of gapline, over the one that is there already.
#
# It runs with a token that may write, so it believes nothing but the event: the number of the pull request comes from
# GitHub's own answer for the commit that the run was about, never from the artifact. FILE is data: it is cut to what a comment
# holds, has to begin with gapline's hidden line, and goes to GitHub as a JSON string; nothing of it is run or expanded, and it
# calls nobody (@name), whoever wrote it.
#
# GH_TOKEN, GITHUB_REPOSITORY   as GitHub sets them
# HEAD_SHA, HEAD_REPOSITORY, HEAD_BRANCH   of github.event.workflow_run
# API   GitHub's programming interface (https://api.github.com)
set -euo pipefail

on=always
if [ "${1-}" = --comment-on ]; then on=${2-}; shift 2; fi
case $on in regression | change | always) ;; *) echo "${0##*/}: --comment-on takes regression, change or always" >&2; exit 2 ;; esac
marker='<!-- gapline -->'
api=${API:-https://api.github.com}/repos/$GITHUB_REPOSITORY
file=$1

[[ $HEAD_SHA =~ ^[0-9a-f]{40}$ ]] || { echo "comment.sh: HEAD_SHA is no commit" >&2; exit 1; }
body=$(mktemp) none=$(mktemp)
trap 'rm -f "$body" "$none"' EXIT
if [ ! -e "$file" ] && [ ! -L "$file" ]; then # the job ended before there was an artifact: what is there is of another push
	printf '%s\n### Not measured\n\nThis push has no result: the job ended before gapline had one. Its log says why.\n' "$marker" >"$none"
	file=$none
fi
[ -f "$file" ] && [ ! -L "$file" ] || { echo "comment.sh: $file is no file" >&2; exit 1; }
[ "$(head -n 1 "$file")" = "$marker" ] || { echo "comment.sh: $file is not gapline's" >&2; exit 1; }

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
	curl --fail --silent --show-error --header @- --header 'Accept: application/vnd.github+json' "$@" \
		<<<"Authorization: Bearer $GH_TOKEN"
}

# The open pull request whose head is this commit of this branch; a fork's, too.
owner=${HEAD_REPOSITORY%%/*}
number=$(request --get --data-urlencode "head=$owner:$HEAD_BRANCH" --data-urlencode state=open "$api/pulls" |
	jq -r --arg sha "$HEAD_SHA" --arg repository "$HEAD_REPOSITORY" \
		'[.[] | select(.head.sha == $sha and .head.repo.full_name == $repository)][0].number // empty')
[ -n "$number" ] || { echo "no open pull request has the head $HEAD_SHA any more: nothing to say"; exit 0; }

head -c 65536 "$file" | jq --raw-input --slurp '{body: (gsub("@(?=[A-Za-z0-9])"; "@\u200b") | .[0:65536])}' >"$body"

mine='' page=1 n=100
while [ -z "$mine" ] && [ "$n" -eq 100 ]; do
	comments=$(request "$api/issues/$number/comments?per_page=100&page=$page")
	mine=$(jq -r --arg marker "$marker" \
		'[.[] | select(.user.login == "github-actions[bot]" and (.body | startswith($marker)))][0].id // empty' <<<"$comments")
	n=$(jq length <<<"$comments") page=$((page + 1))
done
if [ -n "$mine" ]; then
	request --request PATCH --data "@$body" "$api/issues/comments/$mine" >/dev/null
elif worth_it; then
	request --request POST --data "@$body" "$api/issues/$number/comments" >/dev/null
fi
echo "done with #$number"
