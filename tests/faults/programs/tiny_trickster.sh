#!/bin/sh
# The agent of milliseconds, but that its first turn of GREEN takes the new test away, too.
sh "$(dirname "$0")/tiny_agent.sh" "$@"
if [ "$FLYBALL_STAGE" = GREEN ] && [ "$FLYBALL_ITERATION" = 1 ]; then rm tests/ac_1_greets.t; fi
