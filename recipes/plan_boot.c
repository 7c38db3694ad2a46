/* The kernel command line: what decides figures or results, without the places that results and console go to. */
#include <string.h>

#include "plain.h"
#include "plan_parts.h"
#include "rules.h"

/* Words of the machine and of where its console is: the place of boot adds its own. */
static bool of_the_place(const char *word)
{
	static const char *const words[] = {
		"console=", "earlyprintk=", "root=", "panic=", "vga=", "init=", "rdinit="
	};
	for (size_t i = 0; i < BE_ARRAY_LEN(words); i++)
		if (be_starts(word, words[i]))
			return true;
	return strcmp(word, "--") == 0; /* all behind it would be init's */
}

static void add_words(struct be_strv *out, const char *text)
{
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, text ? text : "", " \t\r\n");
	for (size_t i = 0; i < words.n; i++)
		if (!of_the_place(words.v[i]))
			be_strv_add(out, words.v[i]);
}

/* A value with a blank would be two parameters, the second of anybody's choice. */
static int check_word(const struct be_node *node, const char *what, struct be_error *err)
{
	if (node->kind != BE_SCALAR || !*node->text || be_is_word(node->text))
		return 0;
	return be_fail_usage(err, "%s: %s: '%.80s' holds a blank, a quote or a line break: no kernel parameter",
			     be_where(node), what, node->text);
}

/* bp1_memmap: 104G!8G -> memmap=104G!8G; bp_idle: poll -> idle=poll; a key without value is a word of its own. */
static int boot_params(struct be_planner *p, struct be_strv *out, struct be_error *err)
{
	const struct be_node *params = be_get(p->job, "boot_params");
	bool nvdimm = be_streq(be_plan_text_of(p->host, "pmem_origin"), "nvdimm");
	if (!params || params->kind != BE_MAP)
		params = be_get(p->host, "boot_params");
	for (size_t i = 0; params && params->kind == BE_MAP && i < params->n; i++) {
		const char *underscore = strchr(params->keys[i], '_');
		if (!be_starts(params->keys[i], "bp") || !underscore)
			continue;
		bool memmap = strcmp(underscore + 1, "memmap") == 0;
		if (memmap && nvdimm)
			continue;
		if (!be_is_word(params->keys[i]) || check_word(params->items[i], params->keys[i], err))
			return err->status == BE_OK ? be_fail_usage(err, "%s: boot_params: a key holds a blank",
								    be_where(params->items[i]))
						    : -1;
		if (params->items[i]->kind == BE_SCALAR && *params->items[i]->text)
			be_strv_addf(out, "%s=%s", underscore + 1, params->items[i]->text);
		else if (params->items[i]->kind == BE_NULL)
			be_strv_add(out, underscore + 1);
	}
	return 0;
}

/* A map factor: cmdline words of `environment:`, where the catalogue sets the factor on the command line. */
static int environment(struct be_planner *p, struct be_strv *out, struct be_error *err)
{
	const struct be_node *env = be_get(p->job, "environment");
	for (size_t i = 0; env && env->kind == BE_MAP && i < env->n; i++) {
		const struct be_node *factor = be_plan_factor(p, env->keys[i]);
		const struct be_node *set = be_get(factor, "set");
		const char *param = be_get_str(set, "param", "");
		if (!be_streq(be_get_str(set, "kind", NULL), "cmdline") || env->items[i]->kind != BE_SCALAR)
			continue;
		if (check_word(env->items[i], env->keys[i], err))
			return -1;
		const char *value = env->items[i]->text, *mark = strstr(param, "{value}");
		if (mark)
			be_strv_addf(out, "%.*s%s%s", (int)(mark - param), param, value, mark + strlen("{value}"));
		else if (strcmp(value, "no") != 0)
			be_strv_add(out, param);
	}
	return 0;
}

static const char *where_from(const struct be_planner *p)
{
	const struct be_node *node = be_get(p->job, "kernel_cmdline");
	return node ? be_where(node) : "boot_params, environment or host file";
}

int be_plan_boot(struct be_planner *p, struct be_error *err)
{
	const char *type = be_plan_text_of(p->job, "rootfs_type");
	struct be_node *boot = be_node_map();
	be_autostrv struct be_strv words = { 0 };
	be_set(p->plan, "boot", boot);
	if (type && strcmp(type, "ramfs") != 0 && strcmp(type, "tmpfs") != 0)
		return be_fail_usage(err, "%s: rootfs_type: '%.40s' is neither ramfs nor tmpfs",
				     be_where(be_get(p->job, "rootfs_type")), type);
	if (!type || strcmp(type, "ramfs") == 0)
		be_strv_add(&words, "root=/dev/ram0");
	be_set_str(boot, "rootfs_type", type ? type : "ramfs");
	if (boot_params(p, &words, err))
		return -1;
	add_words(&words, be_plan_text_of(p->job, "kernel_cmdline"));
	add_words(&words, be_plan_text_of(p->host, "kernel_cmdline"));
	add_words(&words, be_plan_text_of(p->host, "kernel_cmdline_hw"));
	if (be_rules_since(p->rules.date, BE_RULE_NOKASLR))
		be_strv_add(&words, "nokaslr");
	be_strv_split(
		&words,
		"selinux=0 sysrq_always_enabled rcupdate.rcu_cpu_stall_timeout=100 net.ifnames=0 printk.devkmsg=on",
		" ");
	if (environment(p, &words, err))
		return -1;
	if (be_plan_delivers_to_volume(p))
		be_strv_add(&words, "benchenv.volume");
	be_strv_split(&words, "oops=panic panic=10 rw", " ");
	for (size_t i = 0; i < words.n; i++)
		if (!be_is_boot_word(words.v[i]))
			return be_fail_usage(
				err, "%s: '%.80s' on the kernel's command line: a boot loader would not hand it on",
				where_from(p), words.v[i]);
	be_set(boot, "cmdline", be_node_strv(&words));
	be_deviation(
		p->deviations, "kernel.cmdline",
		"LKP's debug, apic=debug, ignore_loglevel, softlockup_panic=1 and nmi_watchdog=panic are left out, and "
		"panic=10 is used for panic=-1, so that a crash is still reported");
	return 0;
}
