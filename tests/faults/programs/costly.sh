#!/bin/sh
# costly.sh STATUS: the tiny agent, and says what it used: 900 tokens read, 100 written, 0.25 USD; ends with STATUS.
sh "${0%/*}/tiny_agent.sh"
used='"metrics": {"input_tokens": 900, "output_tokens": 100, "usd": 0.25}'
sed -i "s/^{/{$used, /" "$FLYBALL_REPORT_FILE"
exit "$1"
