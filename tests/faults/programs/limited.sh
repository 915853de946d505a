#!/bin/sh
# Is at its limit, whenever it is asked.
echo "You've hit your usage limit. Try again in 2 hours." >&2
exit 1
