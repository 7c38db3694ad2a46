/* Processors, firmware, network. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "initrd/inventory/parts.h"
#include "initrd/machine.h"
#include "initrd/observe/observe.h"

/* cpu0, cpu1 ...: the names in a folder of the kernel that are @stem and a number. */
static void numbered(const struct be_root *root, const char *path, const char *stem, struct be_strv *names)
{
	be_autostrv struct be_strv all = { 0 };
	if (be_root_list(root, path, &all) != 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (be_starts(all.v[i], stem) && isdigit((unsigned char)all.v[i][strlen(stem)]))
			be_strv_add(names, all.v[i]);
}

static void sockets(struct be_host_draft *draft)
{
	be_autostrv struct be_strv cpus = { 0 }, packages = { 0 };
	numbered(draft->root, "/sys/devices/system/cpu", "cpu", &cpus);
	for (size_t i = 0; i < cpus.n; i++) {
		be_autofree char *path = be_strf("/sys/devices/system/cpu/%s/topology/physical_package_id", cpus.v[i]);
		char *id = be_root_text(draft->root, path); /* a CPU that is offline has none */
		if (id)
			be_strv_take(&packages, id);
	}
	be_strv_sort_unique(&packages);
	if (packages.n)
		be_set_int(draft->host, "nr_socket", (int64_t)packages.n);
	else
		be_strv_add(&draft->unknown, "nr_socket: there is no /sys/devices/system/cpu/cpu*/topology");
}

/* The number of what a list such as "0-3,8" of sysfs names. */
static void count(struct be_host_draft *draft, const char *key, const char *path)
{
	be_autofree char *list = be_root_text(draft->root, path);
	int64_t n = list ? be_list_count(list) : 0;
	if (n > 0)
		be_set_int(draft->host, key, n);
	else
		be_strv_addf(&draft->unknown, "%s: there is no %s", key, path);
}

/* Each value that a field of /proc/cpuinfo has, once. */
static void cpu_values(const char *cpuinfo, const char *field, struct be_strv *values)
{
	be_autostrv struct be_strv lines = { 0 };
	be_strv_split(&lines, cpuinfo, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		char *value = be_field(lines.v[i], field);
		if (value)
			be_strv_take(values, value);
	}
	be_strv_sort_unique(values);
}

static void processor(struct be_host_draft *draft, const char *cpuinfo, const char *key, const char *field)
{
	be_autostrv struct be_strv values = { 0 };
	cpu_values(cpuinfo, field, &values);
	if (values.n == 1)
		be_set_str(draft->host, key, values.v[0]);
	else if (!values.n)
		be_strv_addf(&draft->unknown, "%s: /proc/cpuinfo has no field \"%s\"", key, field);
	else
		be_strv_addf(&draft->unknown, "%s: processors differ: %s and %s%s", key, values.v[0], values.v[1],
			     values.n > 2 ? " and others" : "");
}

/* LKP's `model` is the name of the microarchitecture, which no processor states. */
static void model(struct be_host_draft *draft, const char *cpuinfo)
{
	be_autofree char *family = be_field(cpuinfo, "cpu family"), *number = be_field(cpuinfo, "model");
	be_autofree char *stepping = be_field(cpuinfo, "stepping");
	if (family && number && stepping)
		be_strv_addf(
			&draft->unknown,
			"model: a processor does not state the name of its microarchitecture (Ice Lake and so on); "
			"this is family %s, model %s, stepping %s",
			family, number, stepping);
	else
		be_strv_add(&draft->unknown, "model: a processor does not state the name of its microarchitecture");
}

static void firmware(struct be_host_draft *draft)
{
	static const char *const keys[][2] = { { "bios_version", "bios_version" },
					       { "bios_date", "bios_date" },
					       { "board", "board_name" } };
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++) {
		be_autofree char *path = be_strf("/sys/class/dmi/id/%s", keys[i][1]);
		be_autofree char *text = be_root_text(draft->root, path);
		if (text && *text)
			be_set_str(draft->host, keys[i][0], text);
		else
			be_strv_addf(&draft->unknown, "%s: %s %s", keys[i][0], path,
				     text ? "is empty" : "is not there");
	}
}

void be_inventory_machine(struct be_host_draft *draft)
{
	be_autofree char *cpuinfo = be_root_text(draft->root, "/proc/cpuinfo");
	if (!cpuinfo)
		cpuinfo = be_strdup("");
	model(draft, cpuinfo);
	count(draft, "nr_node", "/sys/devices/system/node/online");
	sockets(draft);
	count(draft, "nr_cpu", "/sys/devices/system/cpu/online");
	processor(draft, cpuinfo, "brand", "model name");
	processor(draft, cpuinfo, "ucode", "microcode");
	firmware(draft);
}

/* The last part of what the link leads to; NULL when there is none. The caller frees. */
static char *link_name(const struct be_root *root, const char *path)
{
	be_autofree char *real = be_root_real(root, path);
	char *slash = real ? strrchr(real, '/') : NULL;
	return slash ? be_strdup(slash + 1) : NULL;
}

static void add_attr(const struct be_root *root, const char *name, const char *attr, const char *before,
		     const char *after, struct be_buf *line)
{
	be_autofree char *path = be_strf("/sys/class/net/%s/%s", name, attr);
	be_autofree char *text = be_root_text(root, path); /* the speed of a link that is down cannot be read */
	if (text && *text && *text != '-')
		be_buf_addf(line, "%s%s%s", before, text, after);
}

void be_inventory_network(struct be_host_draft *draft)
{
	be_autostrv struct be_strv names = { 0 };
	be_autofree char *host = be_root_text(draft->root, "/proc/sys/kernel/hostname");
	if (draft->private && host)
		be_strv_addf(&draft->others, "host name: %s", host);
	if (be_root_list(draft->root, "/sys/class/net", &names) != 0)
		return;
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.v[i];
		be_autofree char *device = be_strf("/sys/class/net/%s/device", name);
		be_autofree char *driver_link = be_strf("%s/driver", device);
		be_autofree char *driver = link_name(draft->root, driver_link);
		if (!be_root_exists(draft->root, device))
			continue; /* a loopback, a bridge: no hardware */
		be_autobuf struct be_buf line = { 0 };
		be_buf_addf(&line, "network: %s, driver %s", name, driver ? driver : "not known");
		add_attr(draft->root, name, "device/vendor", ", ", "", &line);
		add_attr(draft->root, name, "device/device", " ", "", &line);
		add_attr(draft->root, name, "speed", ", ", " Mb/s", &line);
		add_attr(draft->root, name, "device/numa_node", ", node ", "", &line);
		if (draft->private)
			add_attr(draft->root, name, "address", ", ", "", &line);
		be_strv_add(&draft->others, line.data);
	}
}
