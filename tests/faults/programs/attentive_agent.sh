#!/bin/sh
# Like tiny_agent.sh, but writes a test and a file for each criterion that its prompt asks for, and for no other.
set -e
prompt=$(cat)
verdict=
for number in 1 2 3 4; do
	case $prompt in
	*"AC-$number: "*) ;;
	*) continue ;;
	esac
	case $FLYBALL_STAGE in
	RED) printf '# AC-%s\n[ "$(cat out_%s.txt 2>&1)" = "%s" ]\n' $number $number $number >tests/ac_$number.t ;;
	GREEN) echo $number >out_$number.txt ;;
	esac
done
case $FLYBALL_STAGE in
DOCUMENT)
	mkdir -p docs/decisions
	printf '# greeter\n\nGreets the world, says goodbye.\n' >README.md
	printf '# Changelog\n\n- greets the world, says goodbye\n' >CHANGELOG.md
	printf '# Greeting\n\nA plain file.\n' >docs/decisions/0001-greeting.md
	;;
QA) verdict='"verdict": "pass",' ;;
esac
printf '{"nonce": "%s", %s "status": "complete", "exit_signal": true, "summary": "did %s"}' \
	"$FLYBALL_NONCE" "$verdict" "$FLYBALL_STAGE" >"$FLYBALL_REPORT_FILE"
