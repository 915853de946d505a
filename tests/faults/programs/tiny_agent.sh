#!/bin/sh
# Does what each stage of `tdd` and `quick` wants, in milliseconds; with the argument `python`, in Python.
set -e
verdict=
write_test() {
	mkdir -p tests
	printf '# AC-1: greets the world\n[ "$(cat hello.txt 2>&1)" = "hello, world" ]\n' >tests/ac_1_greets.t
}
case $FLYBALL_STAGE$1 in
REDpython)
	printf 'from greeter import greet\n\n\ndef test_ac_1_greets():\n    assert greet() == "hello, world"\n' >tests/test_greets.py
	;;
GREENpython)
	printf '"""Greets."""\n\n\ndef greet():\n    """A greeting."""\n    return "hello, world"\n' >greeter.py
	;;
RED) write_test ;;
IMPLEMENT)
	write_test
	printf 'hello, world\n' >hello.txt
	;;
GREEN) printf 'hello, world\n' >hello.txt ;;
DOCUMENT*)
	mkdir -p docs/decisions
	printf '# greeter\n\nGreets the world: see hello.txt.\n' >README.md
	printf '# Changelog\n\n- greets the world\n' >CHANGELOG.md
	printf '# Greeting\n\nA plain file.\n' >docs/decisions/0001-greeting.md
	;;
QA* | REVIEW*) verdict='"verdict": "pass",' ;;
esac
printf '{"nonce": "%s", %s "status": "complete", "exit_signal": true, "summary": "did %s"}' \
	"$FLYBALL_NONCE" "$verdict" "$FLYBALL_STAGE" >"$FLYBALL_REPORT_FILE"
