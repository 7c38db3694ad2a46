/* The words that a scrubbed manifest replaces, and what by. */
#ifndef BE_SCRUB_WORDS_H
#define BE_SCRUB_WORDS_H

#include "base/str.h"

#define BE_SCRUB_WORD "EXAMPLE" /* a serial that holds it was made up */

struct be_secrets {
	struct be_secret {
		char *word, *instead;
	} * v;
	bool publishing;
	bool counting; /* only which made-up serials are there is noted */
	size_t n, serials, uuids, macs, ips;
};
void be_secrets_free(struct be_secrets *secrets);

/* What stands for the serial number @word[0..len): the same for the same. NULL: it may stay. */
const char *be_secret_serial(struct be_secrets *secrets, const char *word, size_t len);
const char *be_secret_uuid(struct be_secrets *secrets, const char *word);

/* The serials of the disk names in @text are public. */
void be_secrets_publish(struct be_secrets *secrets, const char *text);
/* @text with everything replaced; @hosts: also hosts of URLs, and mail addresses. The caller frees. */
char *be_secrets_replace(struct be_secrets *secrets, const char *text, bool hosts);
/* Adds the serials of the disk names in @text. */
void be_secrets_collect(struct be_secrets *secrets, const char *text);

#endif
