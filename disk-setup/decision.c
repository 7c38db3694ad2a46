#include "decision.h"

#include "signature.h"

static struct be_node *decision(const struct be_device *d)
{
	if (d->refusals.n)
		return be_node_str("refused");
	be_autobuf struct be_buf b = { 0 };
	be_buf_adds(&b, "may be written: ");
	if (!d->nsignatures)
		be_buf_adds(&b, "carries nothing");
	for (size_t i = 0; i < d->nsignatures; i++) {
		be_autofree char *text = be_signature_text(&d->signatures[i]);
		be_buf_addf(&b, "%s%s", i ? ", " : "", text);
	}
	if (d->owned)
		be_buf_addf(&b, "; %s", d->owned);
	for (size_t i = 0; i < d->stop.n; i++)
		be_buf_addf(&b, "; the idle array %s is stopped first", d->stop.v[i]);
	if (d->namespace)
		be_buf_addf(&b, "; %s becomes an fsdax namespace", d->namespace);
	return be_node_str(b.data);
}

void be_decision_record(struct be_setup *setup, const struct be_device *d)
{
	struct be_node *node = be_device_node(d), *carries = be_node_seq(), *refused = be_node_seq();
	for (size_t i = 0; i < d->nsignatures; i++) {
		be_autofree char *text = be_signature_text(&d->signatures[i]);
		be_add_str(carries, text);
	}
	be_set(node, "carries", carries);
	be_set(node, "decision", decision(d));
	for (size_t i = 0; i < d->refusals.n; i++) {
		struct be_node *refusal = be_node_map();
		be_set_str(refusal, "finding", d->refusals.v[i]);
		be_set_str(refusal, "remedy", d->remedies.v[i]);
		be_add(refused, refusal);
	}
	if (refused->n)
		be_set(node, "refused", refused);
	else
		be_node_free(refused);
	be_set(setup->found, d->name, node);
}

int be_decision_fail(const struct be_devices *devices, struct be_error *err)
{
	be_autobuf struct be_buf findings = { 0 }, hint = { 0 };
	be_autostrv struct be_strv remedies = { 0 };
	size_t refused = 0;
	for (size_t i = 0; i < devices->n; i++) {
		const struct be_device *d = &devices->v[i];
		refused += d->refusals.n > 0;
		for (size_t j = 0; j < d->refusals.n; j++) {
			if (j == 0)
				be_buf_addf(&findings, "%s%s (%s): ", findings.len ? "; " : "", d->name, d->path);
			be_buf_addf(&findings, "%s%s", j ? ", " : "", d->refusals.v[j]);
			if (!be_strv_has(&remedies, d->remedies.v[j]))
				be_strv_add(&remedies, d->remedies.v[j]);
		}
	}
	if (!refused)
		return 0;
	for (size_t i = 0; i < remedies.n; i++)
		be_buf_addf(&hint, "%s%s", i ? "; " : "", remedies.v[i]);
	be_fail(err, "%zu of %zu devices refused, nothing was written: %s", refused, devices->n, findings.data);
	return be_hint(err, "%s", hint.data);
}

void be_decisions_text(const struct be_node *found, struct be_buf *out)
{
	for (size_t i = 0; i < found->n; i++) {
		const struct be_node *device = found->items[i], *refused = be_get(device, "refused");
		be_buf_addf(out, "%s  %s -> %s\n", found->keys[i], be_get_str(device, "path", "?"),
			    be_get_str(device, "kernel", "nothing"));
		for (size_t j = 0; refused && j < refused->n; j++)
			be_buf_addf(out, "  refused: %s\n    remedy: %s\n",
				    be_get_str(refused->items[j], "finding", "?"),
				    be_get_str(refused->items[j], "remedy", "?"));
		if (!refused)
			be_buf_addf(out, "  %s\n", be_get_str(device, "decision", "?"));
	}
}
