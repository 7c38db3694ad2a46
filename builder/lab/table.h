/* What each machine is at: a live table on a terminal, a line for each change otherwise. */
#ifndef BE_TABLE_H
#define BE_TABLE_H

#include <stdbool.h>

#include "base/str.h"

struct be_table_row {
	char *machine; /* name, or address with hyphens */
	char *image, *stage, *detail;
	double since; /* monotonic seconds of the last change of stage */
};

struct be_table {
	bool live, quiet;
	struct be_table_row *rows;
	size_t n, drawn; /* lines on the terminal */
	bool changed;
};

void be_table_init(struct be_table *table, bool quiet);
void be_table_free(struct be_table *table);
/* Sets a machine's row; @image and @detail may be NULL: as it was, none. */
void be_table_set(struct be_table *table, const char *machine, const char *image, const char *stage, const char *fmt,
		  ...) BE_PRINTF(5, 6);
/* Draws the table anew on a terminal, at most once a call; cheap when nothing has changed for less than a second. */
void be_table_draw(struct be_table *table);

#endif
