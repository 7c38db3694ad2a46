/* /init: PID 1 of a benchmark environment. It starts the runner, watches it, delivers, and switches the machine off. */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "initrd/inventory/inventory.h"
#include "initrd/outlet.h"
#include "initrd/runner.h"
#include "initrd/supervisor.h"
#include "initrd/system.h"

/* A crash ends in a restart, which the twin turns into an end; what was delivered before it stays. A command line that
 * says otherwise is somebody's wish.
 */
static void restart_after_panic(void)
{
	const struct be_root root = { .prefix = NULL };
	be_autofree char *wanted = be_cmdline_value(&root, "panic");
	if (wanted)
		return;
	struct be_error err = BE_ERROR_INIT;
	if (be_write_attr("/proc/sys/kernel/panic", "10", &err) != 0)
		be_log("%s", err.text);
}

static pid_t start_runner(int link[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link) != 0)
		return -1;
	pid_t pid = fork();
	if (pid == 0) {
		close(link[0]);
		_exit(be_runner_main(link[1]));
	}
	close(link[1]);
	return pid;
}

/* What the workload of the inventory image runs: the host file of this machine on standard output. */
static int print_host_file(void)
{
	struct be_error err = BE_ERROR_INIT;
	const struct be_root real = { .prefix = "" };
	be_autofree char *text = be_inventory(&real, false, &err);
	if (text && be_write_output(NULL, text, strlen(text), &err) == 0)
		return BE_OK;
	be_error_print(&err, "init");
	return BE_FAILED;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--host-file") == 0)
		return print_host_file();
	if (getpid() != 1) {
		fprintf(stderr, "%s: runs only as PID 1 of a benchmark environment\n", argc ? argv[0] : "init");
		return BE_USAGE;
	}
	struct be_error err = BE_ERROR_INIT;
	be_system_environment();
	int mounted = be_system_mount(&err);
	be_system_console();
	if (mounted != 0)
		be_log("%s", err.text);
	restart_after_panic();
	be_system_loopback();
	be_watchdog_load();
	int link[2];
	struct be_supervisor s = {
		.state_dir = BE_STATE_DIR,
		.watchdog = { .fd = -1, .wanted = true },
		.deadline = BE_LIMIT_UNTIL_PLAN,
		.stage = "start",
	};
	be_outlet_open(&s);
	s.runner = start_runner(link);
	s.link = link[0];
	be_supervise(&s);
	be_delivery_free(s.delivery);
	be_pause(100); /* the host takes the last bytes of the port while the machine still runs */
	be_system_end(s.reboot);
}
