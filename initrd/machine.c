#include "initrd/machine.h"

#include <string.h>

#include "factor.h"
#include "initrd/guest.h"
#include "initrd/observe/observe.h"
#include "units.h"

/* How many numbers a list such as "0-3,8" of sysfs names. */
int64_t be_list_count(const char *list)
{
	int64_t count = 0;
	while (*list) {
		char *end;
		long from = strtol(list, &end, 10), to = from;
		if (end == list)
			break;
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		count += to - from + 1;
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

void be_machine_size(const struct be_root *root, struct be_machine_size *size)
{
	be_autofree char *cpus = be_root_text(root, "/sys/devices/system/cpu/online");
	be_autofree char *nodes = be_root_text(root, "/sys/devices/system/node/online");
	be_autofree char *meminfo = be_root_text(root, "/proc/meminfo");
	be_autofree char *total = meminfo ? be_field(meminfo, "MemTotal") : NULL;
	*size = (struct be_machine_size){ .nr_cpu = cpus ? be_list_count(cpus) : 1,
					  .nr_node = nodes ? be_list_count(nodes) : 1,
					  .memory = total ? strtoll(total, NULL, 10) * 1024 : 0 };
}

/* "64 threads", "2 nodes", "251 GiB" */
static char *base_text(const char *of, int64_t base)
{
	char buf[32];
	if (be_streq(of, "nr_cpu"))
		return be_strf("%lld thread%s", (long long)base, base == 1 ? "" : "s");
	if (be_streq(of, "nr_node"))
		return be_strf("%lld node%s", (long long)base, base == 1 ? "" : "s");
	if (be_streq(of, "memory"))
		return be_strf("%s of memory", be_size_text(base, buf));
	return be_strf("%lld %s", (long long)base, of);
}

void be_machine_deviations(const struct be_node *asked, const struct be_node *here, struct be_node *deviations)
{
	for (size_t i = 0; asked && asked->kind == BE_MAP && i < asked->n; i++) {
		const char *name = asked->keys[i];
		const struct be_node *then = asked->items[i], *now = be_get(here, name);
		const char *want = be_get_str(then, "value", NULL), *got = be_get_str(now, "value", NULL);
		const char *of = be_get_str(then, "of", NULL);
		if (!now || be_streq(want, got))
			continue;
		if (!of) {
			be_deviation(deviations, name, "%s asked, here %s", want, got ? got : "none");
			continue;
		}
		be_autofree char *base_then = base_text(of, be_get_int(then, "base", 0));
		be_autofree char *base_now = base_text(of, be_get_int(now, "base", 0));
		be_deviation(deviations, name, "%s of %s asked = %s, here %s = %s", be_get_str(then, "asked", "?"),
			     base_then, want, base_now, got ? got : "none");
	}
}

static const struct be_node *factor_named(const struct be_node *plan, const char *name)
{
	const struct be_node *factors = be_get(plan, "factors");
	for (size_t i = 0; factors && i < factors->n; i++)
		if (be_streq(be_get_str(factors->items[i], "name", NULL), name))
			return factors->items[i];
	return NULL;
}

/* A value on one line. */
static char *value_text(const struct be_node *value)
{
	be_autobuf struct be_buf text = { 0 };
	if (value->kind == BE_SCALAR)
		return be_strdup(value->text);
	for (size_t i = 0; i < value->n; i++) {
		be_autofree char *item = value_text(value->items[i]);
		be_buf_addf(&text, "%s%s%s%s", i ? ", " : "", value->kind == BE_MAP ? value->keys[i] : "",
			    value->kind == BE_MAP ? " " : "", item);
	}
	return be_buf_steal(&text);
}

/* One short text for a value or the reason why there is none. */
static char *observed_text(const struct be_node *observed)
{
	const struct be_node *value = be_get(observed, "value");
	if (value && value->kind != BE_NULL)
		return value_text(value);
	const char *why = be_get_str(observed, "not_applicable", NULL);
	return why ? be_strf("not applicable: %s", why)
		   : be_strf("not observable: %s", be_get_str(observed, "not_observable", "unknown"));
}

int be_machine_expect(const struct be_node *plan, const struct be_node *environment, struct be_error *err)
{
	const struct be_node *wanted = be_get(plan, "wanted");
	be_autobuf struct be_buf list = { 0 };
	if (!be_streq(be_get_str(plan, "expect", "warn"), "refuse"))
		return 0;
	for (size_t i = 0; wanted && wanted->kind == BE_MAP && i < wanted->n; i++) {
		const char *name = wanted->keys[i];
		const struct be_node *value = be_get(wanted->items[i], "value");
		const struct be_node *observed = be_get(environment, name);
		const char *compare = be_get_str(factor_named(plan, name), "compare", NULL);
		if (!observed || !value || be_wanted_matches(compare, value, be_get(observed, "value")))
			continue;
		be_autofree char *text = observed_text(observed), *asked = value_text(value);
		be_buf_addf(&list, "%s%s: %s wanted, %s here", list.len ? "; " : "", name, asked, text);
	}
	if (!list.len)
		return 0;
	be_fail(err, "the machine is not what the recipe expects: %s", list.data);
	err->status = BE_DIFFERS;
	return -1;
}
