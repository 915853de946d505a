#!/bin/sh
# A test runner in milliseconds: each tests/*.t is a test that passes when it ends with 0; the report goes to $1.
# Where FLAG, its second argument, is given and not there yet, the first run with more than one test makes it and then hangs.
if [ -n "$2" ] && [ ! -e "$2" ] && [ -e tests/ac_1_greets.t ]; then touch "$2" && sleep 60; fi
failed=0
{
	printf '<testsuite name="tiny">'
	for test in tests/*.t; do
		printf '<testcase name="%s" file="%s">' "${test#tests/}" "$test"
		if ! (. "./$test") >/dev/null 2>&1; then
			printf '<failure message="expected the test to end with 0">assertion</failure>'
			failed=1
		fi
		printf '</testcase>'
	done
	printf '</testsuite>'
} >"$1"
exit $failed
