#include "initrd/system.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

static const struct {
	const char *type, *target, *options;
	unsigned long flags;
} early_mounts[] = {
	{ "proc", "/proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "sysfs", "/sys", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "devtmpfs", "/dev", "mode=0755", MS_NOSUID },
	{ "tmpfs", "/run", "mode=0755", MS_NOSUID | MS_NODEV },
	{ "devpts", "/dev/pts", "gid=5,mode=620,ptmxmode=666", MS_NOSUID | MS_NOEXEC },
	{ "tmpfs", "/dev/shm", "mode=1777", MS_NOSUID | MS_NODEV },
	{ "securityfs", "/sys/kernel/security", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "debugfs", "/sys/kernel/debug", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
};

int be_system_mount(struct be_error *err)
{
	for (size_t i = 0; i < BE_ARRAY_LEN(early_mounts); i++) {
		const char *target = early_mounts[i].target;
		if (mkdir(target, 0755) != 0 && errno != EEXIST)
			continue;
		/* devtmpfs is busy when the kernel mounted it already (CONFIG_DEVTMPFS_MOUNT). */
		if (mount(early_mounts[i].type, target, early_mounts[i].type, early_mounts[i].flags,
			  early_mounts[i].options) != 0 &&
		    errno != EBUSY)
			be_log("%s: not mounted on %s: %s", early_mounts[i].type, target, strerror(errno));
	}
	mkdir("/tmp", 01777);
	chmod("/tmp", 01777);
	if (!be_exists("/proc/self"))
		return be_fail(err, "/proc cannot be mounted");
	return be_mkdirs(BE_STATE_DIR "/workload", 0755, err);
}

void be_system_loopback(void)
{
	be_autofd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq lo = { .ifr_name = "lo" };
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &lo) != 0)
		return;
	lo.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &lo) != 0)
		be_log("lo: %s", strerror(errno));
}

void be_system_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);
	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	if (fd < 0)
		return;
	for (int to = 0; to <= 2; to++)
		dup2(fd, to);
	if (fd > 2)
		close(fd);
	setvbuf(stdout, NULL, _IOLBF, 0);
}

void be_system_environment(void)
{
	static const char *const variables[][2] = {
		{ "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
		{ "HOME", "/root" },
		{ "USER", "root" },
		{ "LOGNAME", "root" },
		{ "SHELL", "/bin/sh" },
		{ "LC_ALL", "C" },
	};
	clearenv();
	for (size_t i = 0; i < BE_ARRAY_LEN(variables); i++)
		setenv(variables[i][0], variables[i][1], 1);
	umask(022);
}

bool be_cmdline_has(const struct be_root *root, const char *word)
{
	be_autofree char *cmdline = be_root_text(root, "/proc/cmdline");
	be_autostrv struct be_strv words = { 0 };
	if (cmdline)
		be_strv_split(&words, cmdline, " \n");
	return be_strv_has(&words, word);
}

char *be_cmdline_value(const struct be_root *root, const char *name)
{
	be_autofree char *cmdline = be_root_text(root, "/proc/cmdline");
	be_autostrv struct be_strv words = { 0 };
	if (cmdline)
		be_strv_split(&words, cmdline, " \n");
	size_t length = strlen(name);
	for (size_t i = words.n; i-- > 0;)
		if (be_starts(words.v[i], name) && words.v[i][length] == '=')
			return be_strdup(words.v[i] + length + 1);
	return NULL;
}

int be_system_complete(const struct be_root *root, struct be_error *err)
{
	be_autofree char *text = be_root_text(root, BE_MARKER_PATH);
	if (be_streq(text, BE_MARKER_TEXT))
		return 0;
	be_fail(err, "the initrd is not complete: %s %s", BE_MARKER_PATH,
		text ? "does not hold the expected text" : "is missing");
	return be_hint(err, "look in the kernel log for \"Initramfs unpacking failed\"; give the machine more memory "
			    "or transfer the image again");
}

void be_log(const char *fmt, ...)
{
	char line[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	fprintf(stderr, "[%12.6f] init: %s\n", be_monotonic(), line);
}

_Noreturn void be_system_end(bool again)
{
	be_log("end of the run: %s", again ? "reboot" : "power off");
	sync();
	reboot(again ? RB_AUTOBOOT : RB_POWER_OFF);
	/* A machine that cannot switch itself off is halted; should that fail too, wait: PID 1 must not end. */
	reboot(RB_HALT_SYSTEM);
	for (;;)
		pause();
}
