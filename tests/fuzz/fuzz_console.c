/* Console logs of any kind: what is found can be listed, and its streams are read as a result's are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "builder/receive/deliveries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	be_autoconsole struct be_console_log log = { 0 };
	be_console_log_read((const char *)data, size, &log);
	for (size_t i = 0; i < log.n; i++) {
		const struct be_console_delivery *d = &log.v[i];
		be_autobuf struct be_buf text = { 0 };
		size_t lines = 0;
		if (d->from >= d->to || d->to > size || strlen(d->id) != 8)
			abort();
		be_console_text((const char *)data, d->from, d->to, &text);
		for (size_t k = 0; k < d->n; k++)
			lines += d->entries[k].missing ? 0 : d->entries[k].lines;
		if (lines * BE_FRAME_BYTES != d->stream.len)
			abort();
	}
	return 0;
}
