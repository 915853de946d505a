#!/bin/sh
# Does each subtask by a file and a test of its own, in milliseconds, and lets everything pass; a subtask's id is its name.
# It ticks the plan in its checkout, as the tools that wrote it tell agents to; that must not survive.
set -e
name=$(printf '%s' "$FLYBALL_SUBTASK" | tr -c 'A-Za-z0-9\n' '_')
said='"status": "complete", "exit_signal": true'
case $FLYBALL_ROLE in
implementer | fixer)
	printf 'done\n' >"$name.txt"
	printf '[ -e %s.txt ]\n' "$name" >"tests/$name.t"
	for plan in specs/001-greet/tasks.md .taskmaster/tasks/tasks.json; do
		if [ -e "$plan" ]; then
			sed 's/\[ \]/[X]/; s/pending/done/' "$plan" >"$plan.new"
			mv "$plan.new" "$plan"
		fi
	done
	;;
*)
	said='"verdict": "pass"'
	;;
esac
printf '{"nonce": "%s", %s, "summary": "%s did it"}' "$FLYBALL_NONCE" "$said" "$FLYBALL_ROLE" >"$FLYBALL_REPORT_FILE"
