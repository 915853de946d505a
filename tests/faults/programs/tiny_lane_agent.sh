#!/bin/sh
# Does what each role of the plan workflow wants: a file of its own for each subtask and a line in one that all share.
set -e
said=
case $FLYBALL_ROLE in
implementer | fixer | scaffolder)
	printf '%s\n' "$FLYBALL_SUBTASK" >"part-$FLYBALL_SUBTASK.txt"
	sleep "${TINY_NAP:-0.05}"
	grep -qx "$FLYBALL_SUBTASK" shared.txt || printf '%s\n' "$FLYBALL_SUBTASK" >>shared.txt
	git add -A && git commit -qm "agent: $FLYBALL_SUBTASK"
	;;
*) said='"verdict": "pass",' ;;
esac
printf '{"nonce": "%s", %s "status": "complete", "exit_signal": true, "summary": "did %s"}' \
	"$FLYBALL_NONCE" "$said" "$FLYBALL_SUBTASK" >"$FLYBALL_REPORT_FILE"
