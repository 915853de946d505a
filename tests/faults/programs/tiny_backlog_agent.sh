#!/bin/sh
# Resolves each issue by a file and a test of its own, in milliseconds, and lets everything pass; an issue's number is its name.
# What it writes into the backlog of its checkout must not survive.
set -e
name=$(printf '%s' "$FLYBALL_SUBTASK" | tr -c 'A-Za-z0-9\n' '_')
said='"status": "complete", "exit_signal": true'
case $FLYBALL_ROLE in
implementer)
	printf 'done\n' >"$name.txt"
	printf '[ -e %s.txt ]\n' "$name" >"tests/$name.t"
	if [ -d .work ]; then printf 'mine\n' >>.work/agent/issues/high.md; fi
	;;
*)
	printf 'touched by a validator\n' >>README.md
	said='"verdict": "pass"'
	;;
esac
printf '{"nonce": "%s", %s, "summary": "%s did it"}' "$FLYBALL_NONCE" "$said" "$FLYBALL_ROLE" >"$FLYBALL_REPORT_FILE"
