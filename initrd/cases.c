#include "initrd/cases.h"

#include "base/clock.h"
#include "initrd/system.h"
#include "metrics.h"

void be_case_log(const char *name, const char *result, double seconds)
{
	be_log("case %s: %s %.1f s", name, result, seconds);
}

static void log_steps(const struct be_guest *guest)
{
	for (size_t i = 0; i < guest->steps_done->n; i++) {
		const struct be_node *step = guest->steps_done->items[i];
		if (be_streq(be_get_str(step, "role", NULL), "run"))
			be_case_log(be_get_str(step, "name", ""), be_get_int(step, "status", 0) == 0 ? "pass" : "fail",
				    be_get_real(step, "seconds", 0));
	}
}

/* Reading the figures costs nothing that counts: the workload is over. */
static void log_figures(const struct be_guest *guest)
{
	be_autostrv struct be_strv missing = { 0 };
	be_autonode struct be_node *figures =
		be_metrics_make(be_get(guest->plan, "workload"), guest->steps_done, guest->state_dir, &missing);
	for (size_t i = 0; i < figures->n; i++)
		be_log("case %s: pass %s -", figures->keys[i], figures->items[i]->text);
}

void be_cases_log(const struct be_guest *guest)
{
	log_steps(guest);
	if (guest->plan)
		log_figures(guest);
	be_case_log("run", be_get_str(guest->outcome, "state", "failed"), be_monotonic());
}
