#!/bin/sh
# Does what each role of the track workflow wants; the rule of product.md is tested only by the fix.
set -e
said=
case $FLYBALL_ROLE in
executor)
	name=part_$(printf %s "$FLYBALL_SUBTASK" | tr . _)
	printf 'def part():\n    return 9\n' >"$name.py"
	echo "python3 -S -c 'import $name; assert $name.part() == 9'" >"tests/$name.t"
	;;
track-fixer) printf 'def test_br_1():\n    assert [8, 9, 10]\n' >tests/test_parts.py ;;
business-writer) printf '\nParts have prices.\n' >>conductor/product.md ;;
eval-business-logic)
	cat <<'END'
```flyball-evaluation
{"evaluator": "business-logic", "passes": [
  {"name": "correctness", "status": "pass", "evidence": [{"file": "part_1_1.py", "line": 2, "quote": "return 9", "what": "it"}]},
  {"name": "edge cases", "status": "pass", "evidence": [{"file": "part_1_1.py", "line": 2, "quote": "return 9", "what": "it"}]},
  {"name": "data flow", "status": "n/a", "reason": "no data"},
  {"name": "user journey", "status": "n/a", "reason": "no page"}
]}
```
END
	;;
*) said='"verdict": "pass",' ;;
esac
printf '{"nonce": "%s", %s "status": "complete", "exit_signal": true, "summary": "did %s"}' \
	"$FLYBALL_NONCE" "$said" "$FLYBALL_ROLE" >"$FLYBALL_REPORT_FILE"
