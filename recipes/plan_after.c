/* What the machine does when the run is over: `after:` of the job, else of the host file. */
#include <string.h>

#include "plan_parts.h"

int be_plan_after(struct be_planner *p, struct be_error *err)
{
	const struct be_node *node = be_get(p->job, "after");
	if (!node)
		node = be_get(p->host, "after");
	const char *text = node && node->kind == BE_SCALAR ? node->text : NULL;
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
