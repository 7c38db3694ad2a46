#include "layout.h"

#include <string.h>

#include "layout_parts.h"
#include "rules.h"
#include "units.h"

/* LKP waited 30 seconds for disks, then 180, then 300; a job or host may say otherwise. */
static int wait_seconds(const struct be_layout_request *r, int64_t *seconds, struct be_error *err)
{
	const struct be_node *disk = be_get(r->job, "disk"), *own = be_get(r->job, "wait_disks_timeout");
	if (!own && disk && disk->kind == BE_MAP)
		own = be_get(disk, "wait_disks_timeout");
	if (!own)
		own = be_get(r->host, "wait_disks_timeout");
	*seconds = be_rules_since(r->date, BE_RULE_WAIT_300)   ? 300
		   : be_rules_since(r->date, BE_RULE_WAIT_180) ? 180
							       : 30;
	if (own && (own->kind != BE_SCALAR || !be_parse_time(own->text, seconds)))
		return be_fail_usage(err, "%s: wait_disks_timeout is no time such as 300s", be_where(own));
	return 0;
}

static void finish(struct be_layout_state *s)
{
	const struct be_node *testdirs = be_get(s->layout, "testdirs");
	be_set_str(s->layout, "testdir", testdirs->n ? testdirs->items[0]->text : "/");
	if (!testdirs->n)
		be_add_str(be_get(s->layout, "testdirs"), "/");
	if (!be_get(s->layout, "load")->n)
		be_unset(s->layout, "load");
}

/* What becomes of a layout that an earlier run of the same recipe has left on the disks. */
static int earlier_layout(struct be_layout_state *s, struct be_error *err)
{
	const struct be_node *node = be_get(s->req->job, "earlier_layout");
	const char *text = be_get_str(s->req->job, "earlier_layout", "rebuild");
	if (!node || node->kind == BE_NULL)
		return 0;
	if (strcmp(text, "rebuild") != 0 && strcmp(text, "reuse") != 0)
		return be_fail_usage(err, "%s: earlier_layout: '%.40s' is neither rebuild nor reuse", be_where(node),
				     text);
	be_set_str(s->layout, "earlier", text);
	return 0;
}

static int make(struct be_layout_state *s, struct be_error *err)
{
	int64_t wait;
	if (wait_seconds(s->req, &wait, err))
		return -1;
	be_set(s->layout, "load", be_node_seq());
	be_set_int(s->layout, "wait", wait);
	be_set(s->layout, "devices", be_node_seq());
	be_autostrv struct be_strv overwrite = { 0 };
	be_get_strv(s->req->job, "overwrite", &overwrite);
	if (overwrite.n)
		be_set(s->layout, "overwrite", be_node_strv(&overwrite));
	be_set(s->layout, "arrays", be_node_seq());
	be_set(s->layout, "filesystems", be_node_seq());
	be_set_str(s->layout, "testdir", "/");
	be_set(s->layout, "testdirs", be_node_seq());
	if (earlier_layout(s, err) || be_layout_devices(s, err) || be_layout_arrays(s, err) ||
	    be_layout_filesystems(s, err) || be_layout_swaps(s, err))
		return -1;
	finish(s);
	return 0;
}

struct be_node *be_layout_make(const struct be_layout_request *request, struct be_node *deviations,
			       struct be_error *err)
{
	be_autonode struct be_node *layout = be_node_map();
	struct be_layout_state s = { .req = request, .deviations = deviations, .layout = layout };
	int rc = make(&s, err);
	be_strv_free(&s.partitions);
	return rc ? NULL : be_steal(&layout);
}
