#include "deviation.h"

void be_deviation(struct be_node *deviations, const char *topic, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	be_autofree char *text = be_vstrf(fmt, args);
	va_end(args);
	for (size_t i = 0; i < deviations->n; i++)
		if (be_streq(be_get_str(deviations->items[i], "topic", NULL), topic) &&
		    be_streq(be_get_str(deviations->items[i], "text", NULL), text))
			return;
	struct be_node *entry = be_node_map();
	be_set_str(entry, "topic", topic);
	be_set_str(entry, "text", text);
	be_add(deviations, entry);
}
