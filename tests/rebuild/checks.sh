# For test-*: sourced with the program in $program. A folder $work, removed at the end, and counted checks.
work=$(mktemp -d)
failed=0
passed=0
check() { # TEXT COMMAND...
	local text=$1
	shift
	if "$@"; then passed=$((passed + 1)); else
		echo "FAIL: $text: $(cat "$work/err")"
		failed=$((failed + 1))
	fi
}
run() { "$program" "$@" -q 2>"$work/err"; }
status_of() { # STATUS COMMAND...
	local wanted=$1 got
	shift
	"$@"
	got=$?
	[ "$got" -eq "$wanted" ] || {
		echo "status $got, not $wanted"
		cat "$work/err"
		return 1
	}
}
same() { diff -r "$1" "$2"; }
says() { grep -qF -e "$1" "$work/err" || {
	cat "$work/err"
	return 1
}; }
# No network at all: not even a loopback that is up.
offline() {
	if [ "$(id -u)" -eq 0 ]; then unshare -n "$@"; else unshare -rn "$@"; fi
}
in_cache() { env MKBENCHENV_CACHE="$1" "$program" "${@:2}" -q 2>"$work/err"; }
cut_off() { offline env MKBENCHENV_CACHE="$1" "$program" "${@:2}" -q 2>"$work/err"; }
finish() { # NAME: the result, as the exit status too
	echo "$1: $passed passed, $failed failed"
	[ "$failed" -eq 0 ]
}
