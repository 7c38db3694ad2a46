/* Kernel options that the host's hardware needs: LKP writes them in several forms, the plan in one. */
#include <string.h>

#include "plan_parts.h"

/* "CONFIG_MD=y", "SATA_AHCI", and in old files a condition on the kernel's version behind it. */
static void add_text(struct be_strv *out, const char *text)
{
	size_t len = strcspn(text, " \t");
	if (be_starts(text, "CONFIG_")) {
		text += strlen("CONFIG_");
		len -= strlen("CONFIG_");
	}
	if (len)
		be_strv_addf(out, "%.*s", (int)len, text);
}

static void add_item(struct be_strv *out, const struct be_node *item)
{
	if (item->kind == BE_SCALAR)
		add_text(out, item->text);
	for (size_t i = 0; item->kind == BE_MAP && i < item->n; i++) {
		const char *value = be_get_str(item, item->keys[i], NULL);
		be_autofree char *text = value ? be_strf("%s=%s", item->keys[i], value) : be_strdup(item->keys[i]);
		add_text(out, text);
	}
}

void be_plan_kconfig(struct be_planner *p, struct be_node *machine)
{
	const struct be_node *list = be_get(p->host, "need_kconfig_hw");
	be_autostrv struct be_strv options = { 0 };
	if (!list)
		return;
	if (list->kind != BE_SEQ)
		add_item(&options, list);
	for (size_t i = 0; list->kind == BE_SEQ && i < list->n; i++)
		add_item(&options, list->items[i]);
	if (options.n)
		be_set(machine, "need_kconfig_hw", be_node_strv(&options));
}
