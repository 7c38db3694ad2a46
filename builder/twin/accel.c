#include "builder/twin/accel.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"

#define KVM_DEVICE "/dev/kvm"
#define PROBE_SECONDS 5.0 /* a kernel's first line comes within half a second, where one comes at all */

bool be_accel_parse(const char *text, enum be_accel *out)
{
	static const struct {
		const char *text;
		enum be_accel accel;
	} words[] = { { "auto", BE_ACCEL_AUTO },
		      { "tcg", BE_ACCEL_TCG },
		      { "off", BE_ACCEL_TCG },
		      { "kvm", BE_ACCEL_KVM },
		      { "on", BE_ACCEL_KVM } };
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++) {
		if (strcmp(words[i].text, text) == 0) {
			*out = words[i].accel;
			return true;
		}
	}
	return false;
}

/* The kernel alone: it greets on the serial line, finds no root and resets, which ends QEMU. */
static bool kernel_runs(const char *kernel)
{
	const char *argv[] = { "qemu-system-x86_64",
			       "-nodefaults",
			       "-no-user-config",
			       "-display",
			       "none",
			       "-no-reboot",
			       "-M",
			       "q35",
			       "-accel",
			       "kvm",
			       "-cpu",
			       "host",
			       "-m",
			       "256M",
			       "-serial",
			       "stdio",
			       "-kernel",
			       kernel,
			       "-append",
			       "console=ttyS0 panic=-1",
			       NULL };
	be_autorun struct be_run run = { .argv = (char *const *)argv, .timeout = PROBE_SECONDS };
	struct be_error err = BE_ERROR_INIT;
	return be_run(&run, &err) == 0 && strstr(run.out.data, "Linux version") != NULL;
}

static char *boot_id(void)
{
	struct be_root root = { .prefix = "" };
	char *id = be_root_text(&root, "/proc/sys/kernel/random/boot_id");
	return id ? id : be_strdup("");
}

static bool probe(const struct be_cache *cache, const char *kernel, const char *sha256)
{
	be_autofree char *id = boot_id(), *key = be_strf("%s %s", id, sha256);
	be_autobuf struct be_buf known = { 0 };
	if (be_cache_get_text(cache, "kvm", key, &known))
		return strcmp(known.data, "works\n") == 0;
	bool works = kernel_runs(kernel);
	const char *answer = works ? "works\n" : "does not\n";
	struct be_error ignored = BE_ERROR_INIT;
	/* A cache that cannot be written only means that the question is asked again. */
	if (be_cache_set_text(cache, "kvm", key, answer, strlen(answer), &ignored) != 0)
		return works;
	return works;
}

int be_accel_choose(enum be_accel asked, const struct be_cache *cache, const char *kernel, const char *sha256,
		    bool *kvm, const char **why, struct be_error *err)
{
	bool there = access(KVM_DEVICE, R_OK | W_OK) == 0;
	*kvm = false;
	*why = "asked for";
	if (asked == BE_ACCEL_TCG)
		return 0;
	if (asked == BE_ACCEL_KVM) {
		*kvm = there;
		if (there)
			return 0;
		be_fail(err, "%s: cannot be used here", KVM_DEVICE);
		return be_hint(err, "--kvm auto falls back to TCG.");
	}
	*why = there ? "no kernel starts on this machine's KVM" : "no usable " KVM_DEVICE;
	*kvm = there && probe(cache, kernel, sha256);
	return 0;
}
