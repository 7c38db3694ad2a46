# The lab: a network namespace with a bridge as the switch, the server's card lab0 with its cable lab1 in it, and a tap for each
# machine. Sourced.
# Traffic stays inside; nothing of it is seen outside.

pxe_dir=$(mktemp -d "${TMPDIR:-/tmp}/be-pxe.XXXXXX")
chmod 711 "$pxe_dir" # the servers do not run as root
pxe_net=be-pxe-$$
pxe_pids= # of all that runs in the background
pxe_program=${MKBENCHENV:-build/mkbenchenv}

say() { printf 'pxe: %s\n' "$*"; }
fail() {
	printf 'pxe: FAILED: %s\n' "$*" >&2
	exit 1
}
inside() { ip netns exec "$pxe_net" "$@"; }
# For the background: a signal for the job reaches the program itself.
become() { exec ip netns exec "$pxe_net" "$@"; }

pxe_end() {
	status=$?
	set +e
	trap - EXIT
	for pid in $pxe_pids; do kill "$pid" 2>/dev/null; done
	for pid in $pxe_pids; do wait "$pid" 2>/dev/null; done
	for name in "$pxe_net" "$pxe_net-dhcp"; do ip netns delete "$name" 2>/dev/null; done
	if [ "$status" -eq 0 ]; then rm -rf "$pxe_dir"; else say "what was made is left in $pxe_dir"; fi
	exit "$status"
}
trap pxe_end EXIT
trap 'exit 1' INT TERM

ip netns add "$pxe_net" || fail "no network namespace can be made"
inside ip link set lo up
inside ip link add br0 type bridge forward_delay 0
inside ip link set br0 up
inside ip link add lab0 type veth peer name lab1
inside ip address add 10.99.0.1/24 dev lab0
inside ip link set lab0 up
inside ip link set lab1 up master br0

# iPXE waits 13 s for a router of IPv6: this one announces a network that leads nowhere.
inside ip address add fd99::1/64 dev lab0 nodad
cat >"$pxe_dir/router.conf" <<EOF
port=0
interface=lab0
bind-interfaces
enable-ra
dhcp-range=fd99::,ra-only,64,10m
ra-param=lab0,10
dhcp-leasefile=$pxe_dir/router.leases
user=root
EOF
become dnsmasq --keep-in-foreground --conf-file="$pxe_dir/router.conf" --log-facility="$pxe_dir/router.log" &
pxe_pids="$pxe_pids $!"

# tap NAME: a port of the bridge for a machine
tap() {
	inside ip tuntap add "$1" mode tap
	inside ip link set "$1" up master br0
}

# serve NAME ARGUMENT...: starts `mkbenchenv serve` with the state folder NAME, and waits until it is ready
serve() {
	serve_name=$1
	shift
	: >"$pxe_dir/serve-$serve_name.log"
	become "$pxe_program" serve "$@" --interface lab0 --state "$pxe_dir/state-$serve_name" -o "$pxe_dir/result" \
		2>>"$pxe_dir/serve-$serve_name.log" &
	serve_pid=$!
	pxe_pids="$pxe_pids $serve_pid"
	for _ in $(seq 100); do
		[ -e "$pxe_dir/serve-$serve_name.log" ] && grep -q 'results in' "$pxe_dir/serve-$serve_name.log" && return 0
		kill -0 "$serve_pid" 2>/dev/null || break
		sleep 0.1
	done
	cat "$pxe_dir/serve-$serve_name.log" >&2
	fail "serve does not start"
}

# machine NAME NUMBER ARGUMENT...: a QEMU machine with address 52:54:00:00:00:NUMBER that boots from the network. Its
# console goes to NAME.console.
machine() {
	machine_name=$1
	machine_number=$2
	shift 2
	become timeout "${PXE_TIMEOUT:-300}" qemu-system-x86_64 -nodefaults -no-user-config -M q35 \
		-accel tcg,thread=multi -cpu max -smp 2 -m "${PXE_MEMORY:-1G}" -display none -no-reboot \
		-serial file:"$pxe_dir/$machine_name.console" \
		-netdev tap,id=n0,ifname="tap$machine_number",script=no,downscript=no \
		-device "${PXE_CARD:-virtio-net-pci}",netdev=n0,mac=52:54:00:00:00:"$machine_number""${PXE_CARD_MORE:-}" \
		"$@" >"$pxe_dir/$machine_name.qemu" 2>&1 &
	machine_pid=$!
	pxe_pids="$pxe_pids $machine_pid"
	eval "pid_$machine_name=$machine_pid"
}

# UEFI firmware with variables of its own
uefi() {
	cp /usr/share/OVMF/OVMF_VARS_4M.fd "$pxe_dir/$1.vars"
	printf '%s\n' -drive if=pflash,format=raw,unit=0,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.fd \
		-drive if=pflash,format=raw,unit=1,file="$pxe_dir/$1.vars"
}

# off NAME: the machine has ended by itself
off() {
	local pid=pid_$1
	wait "${!pid}" || fail "the machine $1 did not switch itself off (status $?)"
}
