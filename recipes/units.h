/* Sizes, counts, times as job and host files write them (LKP's parameter mapping: lkp-tests params/). */
#ifndef BE_UNITS_H
#define BE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* "4M", "100G", "9B", "256g", "4KB", "1.5T" is refused: binary multiples, no fractions. Returns false when it is none.
 */
bool be_parse_size(const char *text, int64_t *bytes);
/* "300s", "10m", "1h", "2d", "1w", no unit: seconds. */
bool be_parse_time(const char *text, int64_t *seconds);
/* "50%" and "12.5%" of @base, truncated; "8t", "64thread", "4x", "16d", "256fpd": the number. */
bool be_parse_count(const char *text, int64_t base, int64_t *count);
/* Bytes for people: "3.0 TB" never; binary, "2.7 TiB", "512 MiB"; exact multiples without a decimal. */
const char *be_size_text(int64_t bytes, char buf[32]);

#endif
