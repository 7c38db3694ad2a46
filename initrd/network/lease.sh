#!/bin/sh
# udhcpc calls this with what it was given in the environment. init reads the file and sets the address (lease.c).
[ "$1" = bound ] || exit 0
printf '%s\n' "ip: \"$ip\"" "subnet: \"$subnet\"" "router: \"${router%% *}\"" >"$BENCHENV_LEASE"
