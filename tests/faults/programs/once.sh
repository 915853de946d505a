#!/bin/sh
# once.sh FLAG DEED [FILE]: misbehaves as DEED says in its first turn, which makes FLAG; after that it is the tiny agent.
if [ -e "$1" ]; then exec sh "${0%/*}/tiny_agent.sh"; fi
case $2 in
brood) # works on for ever, with a child that ignores SIGTERM in a session of its own, and another that is a daemon
	printf 'half done\n' >partial.txt
	setsid sh -c 'trap "" TERM HUP INT; while :; do sleep 1; done' &
	(setsid sh -c 'while :; do sleep 1; done' >/dev/null 2>&1 &)
	touch "$1"
	while :; do sleep 1; done
	;;
stubborn) # ignores every request to end, and goes on writing
	trap '' TERM HUP INT
	touch "$1"
	while :; do date +%s%N >partial.txt; done
	;;
limited)
	touch "$1"
	echo "You've hit your usage limit. Try again in 4s." >&2
	exit 1
	;;
fill) # leaves no byte free where FILE lies
	touch "$1"
	dd if=/dev/zero of="$3" bs=64k >/dev/null 2>&1
	dd if=/dev/zero of="$3.rest" bs=1 >/dev/null 2>&1
	exec sh "${0%/*}/tiny_agent.sh"
	;;
hold) # waits until FILE is there
	touch "$1"
	while [ ! -e "$3" ]; do sleep 0.02; done
	exec sh "${0%/*}/tiny_agent.sh"
	;;
esac
