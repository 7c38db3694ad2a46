#include "note.h"

void be_setup_log(const struct be_setup *setup, const char *fmt, ...)
{
	if (!setup->log)
		return;
	va_list args;
	va_start(args, fmt);
	be_autofree char *text = be_vstrf(fmt, args);
	va_end(args);
	setup->log(text);
}
