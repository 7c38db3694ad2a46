#include "initrd/document.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "initrd/machine.h"
#include "initrd/system.h"

/* The size of this machine, and what watches over it. */
static struct be_node *machine(const struct be_guest *guest)
{
	struct be_machine_size size;
	struct be_node *map = be_node_map();
	be_autofree char *release = be_root_text(&guest->root, "/proc/sys/kernel/osrelease");
	be_autofree char *watchdog = be_root_text(&guest->root, "/sys/class/watchdog/watchdog0/identity");
	be_machine_size(&guest->root, &size);
	be_set_str(map, "kernel", release);
	be_set_int(map, "nr_cpu", size.nr_cpu);
	be_set_int(map, "nr_node", size.nr_node);
	be_set_int(map, "memory", size.memory);
	const struct be_look look = { .o = &(struct be_observer){ .root = guest->root } };
	struct be_reading hypervisor = be_probe("hypervisor")(&look);
	if (hypervisor.state == BE_READ)
		be_set(map, "hypervisor", be_steal(&hypervisor.value));
	be_reading_free(&hypervisor);
	be_set_str(map, "watchdog", watchdog ? watchdog : "none");
	return map;
}

static void add_all(struct be_node *to, const struct be_node *from)
{
	for (size_t i = 0; from && i < from->n; i++)
		be_add(to, be_node_clone(from->items[i]));
}

/* What was found and made; before.yaml has it already when a draft of after.yaml is written. */
static void add_findings(struct be_node *doc, const struct be_guest *guest)
{
	be_set(doc, "environment", guest->environment ? be_node_clone(guest->environment) : be_node_map());
	be_set(doc, "actions", be_node_clone(guest->setup.actions));
	be_set(doc, "found", be_node_clone(guest->setup.found));
	be_set(doc, "layout", be_node_clone(guest->setup.layout));
}

static struct be_node *document(const struct be_guest *guest, const char *phase, bool draft)
{
	struct be_node *doc = be_node_map();
	be_set_str(doc, "mkbenchenv", "observation");
	be_set_int(doc, "schema", 1);
	be_set_str(doc, "phase", phase);
	be_set_str(doc, "plan_sha256", guest->plan_sha256[0] ? guest->plan_sha256 : NULL);
	be_set(doc, "outcome", be_node_clone(guest->outcome));
	be_set(doc, "machine", machine(guest));
	if (!draft)
		add_findings(doc, guest);
	struct be_node *deviations = be_node_seq();
	add_all(deviations, guest->setup.deviations);
	add_all(deviations, guest->deviations);
	be_set(doc, "deviations", deviations);
	be_set(doc, "settings", be_node_clone(guest->settings));
	if (guest->values)
		be_set(doc, "values", be_node_clone(guest->values));
	if (be_streq(phase, "after"))
		be_set(doc, "steps", be_node_clone(guest->steps_done));
	return doc;
}

static int write_document(const struct be_guest *guest, const char *phase, bool draft, const char *name,
			  struct be_error *err)
{
	be_autonode struct be_node *doc = document(guest, phase, draft);
	be_autofree char *path = be_strf("%s/%s", guest->state_dir, name);
	be_autobuf struct be_buf text = { 0 };
	if (be_node_yaml(doc, &text, err) != 0)
		return -1;
	return be_write_file(path, text.data, text.len, 0644, err);
}

/* What stating the environment took: the last document is observed then, but not yet written. */
static void state_cost(const struct be_guest *guest, double after, struct be_node *environment)
{
	static const char factor[] = "run.observation_seconds";
	struct be_node *map = be_node_map(), *stated = be_node_map();
	be_set(map, "before", be_node_strf("%.2f", guest->stating));
	be_set(map, "during", be_node_strf("%.2f", guest->sample.cost));
	be_set(map, "after", be_node_strf("%.2f", after));
	be_set(map, "in_all", be_node_strf("%.2f", guest->stating + guest->sample.cost + after));
	be_set(stated, "value", map);
	if (be_get(environment, factor))
		be_set(environment, factor, be_steal(&stated));
	be_node_free(stated);
}

int be_document_write(struct be_guest *guest, enum be_phase phase, const char *name, struct be_error *err)
{
	const struct be_observer observer = { .root = guest->root,
					      .plan = guest->plan,
					      .scopes = &guest->scopes,
					      .facts = guest->facts,
					      .log = &guest->log,
					      .sample = phase == BE_AFTER ? &guest->sample : NULL,
					      .earlier = phase == BE_BEFORE ? guest->environment : NULL };
	double begin = be_monotonic();
	struct be_node *environment = be_observe(&observer, phase);
	be_node_free(guest->environment);
	guest->environment = environment;
	be_log("observed %zu factors in %.2f s", environment->n, be_monotonic() - begin);
	if (phase == BE_AFTER)
		state_cost(guest, be_monotonic() - begin, environment);
	return write_document(guest, phase == BE_BEFORE ? "before" : "after", false, name, err);
}

void be_document_draft(struct be_guest *guest)
{
	struct be_error err = BE_ERROR_INIT;
	if (write_document(guest, "after", true, "after.yaml", &err) != 0)
		be_log("%s", err.text);
}
