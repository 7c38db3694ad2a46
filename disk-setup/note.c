#include "note.h"

#include <stdarg.h>
#include <stdio.h>

void be_note(struct be_node *deviations, const char *topic, const char *fmt, ...)
{
	be_autofree char *text = NULL;
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(&text, fmt, args);
	va_end(args);
	struct be_node *node = be_node_map();
	be_set_str(node, "topic", topic);
	be_set_str(node, "text", n < 0 ? fmt : text);
	be_add(deviations, node);
}

void be_setup_log(const struct be_setup *setup, const char *fmt, ...)
{
	if (!setup->log)
		return;
	be_autofree char *text = NULL;
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n >= 0)
		setup->log(text);
}
