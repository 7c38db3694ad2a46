# Images for the lab's machines, and what is expected of their results. Sourced.

# image NAME RECIPE ARGUMENT...: builds it unless it is there from this program
image() {
	local name=$1 recipe=$2
	shift 2
	mkdir -p "$images"
	"$pxe_program" "recipes/jobs/$recipe.yaml" -q -o "$images/$name" "$@" || fail "the image $name cannot be built"
}
small() { # NAME [TIME [ARGUMENT...]]
	image "$1" $stress --set testtime="${2:-2s}" "${@:3}"
}

# The folders of all results; expect_results COUNT: so many of them
results() {
	[ ! -d "$pxe_dir/result" ] || find "$pxe_dir/result" -mindepth 2 -maxdepth 2 -type d | sort
}
expect_results() {
	local found
	found=$(results | wc -l)
	[ "$found" -eq "$1" ] || fail "$found results, $1 expected: $(results | tr '\n' ' ')"
}
field() { # RESULT PATH: a value of the manifest
	python3 - "$1/manifest.yaml" "$2" <<'EOF'
import sys, yaml
value = yaml.safe_load(open(sys.argv[1]))
for key in sys.argv[2].split("/"):
    value = value.get(key) if isinstance(value, dict) else None
print(value)
EOF
}
# whole RESULT IMAGE: done, complete, with figures, of the very kernel and initrd
whole() {
	[ "$(field "$1" result/state)" = done ] || fail "$1: state $(field "$1" result/state): $(field "$1" result/reason)"
	[ "$(field "$1" result/complete)" = True ] || fail "$1: not complete: $(field "$1" result/incomplete)"
	[ "$(field "$1" result/metrics)" != None ] || fail "$1: no figures"
	for part in kernel:vmlinuz initrd:initrd.img; do
		sum=$(sha256sum "$images/$2/${part#*:}")
		[ "$(field "$1" "image/${part%:*}/sha256")" = "${sum%% *}" ] || fail "$1: hash of ${part#*:}"
	done
	grep -q 'Linux version' "$1/kernel.log" || fail "$1: no kernel log"
}
result_of() { echo "$pxe_dir/result/$1"/*; }
# until_served: the server ends by itself, in time and with status 0
until_served() {
	for _ in $(seq 600); do
		kill -0 "$serve_pid" 2>/dev/null || break
		sleep 1
	done
	! kill -0 "$serve_pid" 2>/dev/null || fail "serve still waits: $(tail -n 3 "$pxe_dir/serve-$serve_name.log")"
	wait "$serve_pid" || fail "serve ended with status $?: $(tail -n 3 "$pxe_dir/serve-$serve_name.log")"
}
served() { # TEXT: waits until the server says it
	for _ in $(seq "${2:-1200}"); do
		grep -qs "$1" "$pxe_dir/serve-$serve_name.log" && return 0
		kill -0 "$serve_pid" 2>/dev/null || break
		sleep 0.1
	done
	fail "serve never said: $1"
}
