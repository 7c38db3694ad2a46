/*
 * Firmware files that the machine's devices load, `firmware:` of the job, else of the host file: names of Debian
 * packages. They are given by the user, as a workload's program is, or else the builder takes them from the packages.
 */
#include "plain.h"
#include "plan_parts.h"

static int check_one(const struct be_node *node, struct be_error *err)
{
	if (node->kind == BE_NULL || (node->kind == BE_SCALAR && (!*node->text || be_is_name(node->text, "+-."))))
		return 0;
	return be_fail_usage(err, "%s: firmware: '%.80s' is no name of a Debian package", be_where(node),
			     node->kind == BE_SCALAR ? node->text
			     : node->kind == BE_SEQ  ? "(a list)"
						     : "(a map)");
}

/* A name, or a list of names. */
static int check(const struct be_node *node, struct be_error *err)
{
	if (node->kind != BE_SEQ)
		return check_one(node, err);
	for (size_t i = 0; i < node->n; i++)
		if (check_one(node->items[i], err) != 0)
			return -1;
	return 0;
}

int be_plan_firmware(struct be_planner *p, struct be_error *err)
{
	const struct be_node *node = be_get(be_get(p->job, "firmware") ? p->job : p->host, "firmware");
	if (node && check(node, err) != 0)
		return -1;
	struct be_node *image = be_get(p->plan, "image"), *entry = be_node_map();
	be_autostrv struct be_strv packages = { 0 };
	be_autobuf struct be_buf what = { 0 };
	struct be_node *list = be_node_seq();
	be_get_strv(be_get(p->job, "firmware") ? p->job : p->host, "firmware", &packages);
	for (size_t i = 0; i < packages.n; i++)
		if (*packages.v[i]) {
			be_buf_addf(&what, "%s%s",
				    what.len ? ", " : "the folder lib/firmware as `dpkg-deb -x` unpacks it of ",
				    packages.v[i]);
			be_add(list, be_node_str(packages.v[i]));
		}
	if (!what.len) {
		be_node_free(entry);
		be_node_free(list);
		return 0;
	}
	be_set_str(entry, "name", "firmware");
	be_set_str(entry, "path", "/usr/lib/firmware");
	be_set_str(entry, "what", what.data);
	be_set(entry, "packages", list);
	if (!be_get(image, "given"))
		be_set(image, "given", be_node_seq());
	be_add(be_get(image, "given"), entry);
	return 0;
}
