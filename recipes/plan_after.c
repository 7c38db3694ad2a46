/*
 * How a run ends: what the machine does then, `after:` of the job, else of the host file, and where the result goes
 * when no server takes it, `deliver:`.
 */
#include <string.h>

#include "plan_parts.h"

bool be_plan_delivers_to_volume(const struct be_planner *p)
{
	const char *text = be_plan_text_of(p->job, "deliver");
	return be_streq(text ? text : be_plan_text_of(p->host, "deliver"), "volume");
}

static int check_deliver(const struct be_planner *p, struct be_error *err)
{
	const struct be_node *node = be_get(p->job, "deliver");
	if (!node)
		node = be_get(p->host, "deliver");
	if (!node || node->kind == BE_NULL || be_plan_delivers_to_volume(p))
		return 0;
	be_fail_usage(err, "%s: deliver: '%.40s' is not volume", be_where(node),
		      node->kind == BE_SCALAR ? node->text : "(a list or map)");
	return be_hint(err, "without the key a server, the twin's port or the console takes the result");
}

int be_plan_after(struct be_planner *p, struct be_error *err)
{
	const struct be_node *node = be_get(p->job, "after");
	if (!node)
		node = be_get(p->host, "after");
	const char *text = node && node->kind == BE_SCALAR ? node->text : NULL;
	if (check_deliver(p, err) != 0)
		return -1;
	if (!node)
		return 0;
	if (!text || (strcmp(text, "power-off") != 0 && strcmp(text, "reboot") != 0)) {
		be_fail_usage(err, "%s: after: '%.40s' is neither power-off nor reboot", be_where(node),
			      text ? text : "(a list or map)");
		return be_hint(err, "a machine that reboots takes what its server has for it next");
	}
	be_set_str(p->plan, "after", text);
	return 0;
}
