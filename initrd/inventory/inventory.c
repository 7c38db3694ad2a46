#include "initrd/inventory/inventory.h"

#include "initrd/inventory/parts.h"

static void draft_free(struct be_host_draft *draft)
{
	be_node_free(draft->host);
	be_strv_free(&draft->unknown);
	be_strv_free(&draft->unlisted);
	be_strv_free(&draft->others);
}

char *be_inventory_size(int64_t bytes)
{
	static const char units[] = "KMG";
	char unit = '\0';
	for (size_t i = 0; i < sizeof(units) - 1 && bytes >= 1024 && bytes % 1024 == 0; i++) {
		bytes /= 1024;
		unit = units[i];
	}
	return be_strf("%lld%.1s", (long long)bytes, unit ? &unit : "");
}

/* A comment ends at its line's end, whatever a device calls itself. */
static void comment(struct be_buf *out, const char *before, const char *text)
{
	be_buf_adds(out, before);
	for (const char *p = text; *p; p++)
		be_buf_addc(out, (unsigned char)*p < ' ' || *p == 0x7f ? ' ' : *p);
	be_buf_addc(out, '\n');
}

static void comments(struct be_buf *out, const char *title, const struct be_strv *lines)
{
	if (!lines->n)
		return;
	comment(out, "# ", title);
	for (size_t i = 0; i < lines->n; i++)
		comment(out, "#   ", lines->v[i]);
}

static int write_draft(const struct be_host_draft *draft, struct be_buf *out, struct be_error *err)
{
	be_autofree char *release = be_root_text(draft->root, "/proc/sys/kernel/osrelease");
	be_autofree char *title = be_strf("Host file written by mkbenchenv host " BE_VERSION " under Linux %s.",
					  release && *release ? release : "of unknown release");
	comment(out, "# ", title);
	comments(out, "Not known:", &draft->unknown);
	comments(out,
		 "Not listed as test disks; list what may lose all that is on it, and nothing else:", &draft->unlisted);
	comments(out, "What a host file has no key for:", &draft->others);
	return be_node_yaml(draft->host, out, err);
}

char *be_inventory(const struct be_root *root, bool private, struct be_error *err)
{
	be_cleanup(draft_free) struct be_host_draft draft = { .root = root, .private = private, .host = be_node_map() };
	if (!be_root_exists(root, "/proc/cpuinfo") && !be_root_exists(root, "/sys/devices/system/cpu")) {
		be_fail_usage(err, "%s holds no machine: neither /proc/cpuinfo nor /sys/devices/system/cpu is there",
			      root->prefix && *root->prefix ? root->prefix : "/");
		be_hint(err, "a recorded machine is a folder with its /proc, /sys, /dev and /run");
		return NULL;
	}
	be_autobuf struct be_buf out = { 0 };
	be_inventory_machine(&draft);
	be_inventory_memory(&draft);
	if (be_inventory_disks(&draft, err) != 0)
		return NULL;
	be_inventory_pmem(&draft);
	be_inventory_network(&draft);
	return write_draft(&draft, &out, err) == 0 ? be_buf_steal(&out) : NULL;
}
