#include "units.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* Decimal digits only: no sign, no blanks, no base. Returns what follows them, NULL when there are none or too many. */
static const char *digits(const char *text, int64_t *value)
{
	const char *p = text;
	int64_t v = 0;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
			return NULL;
	*value = v;
	return p == text ? NULL : p;
}

bool be_parse_size(const char *text, int64_t *bytes)
{
	static const char units[] = "KMGTP";
	int64_t value;
	const char *unit = digits(text, &value);
	if (!unit)
		return false;
	const char *power = *unit ? strchr(units, toupper((unsigned char)*unit)) : NULL;
	if (power) {
		if (__builtin_mul_overflow(value, INT64_C(1) << (10 * (power - units + 1)), &value))
			return false;
		unit++;
	}
	if (*unit == 'b' || *unit == 'B')
		unit++;
	if (*unit)
		return false;
	*bytes = value;
	return true;
}

bool be_parse_time(const char *text, int64_t *seconds)
{
	static const struct {
		char letter;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 }, { 'y', 31536000 } };
	int64_t value;
	const char *unit = digits(text, &value);
	if (!unit || (*unit && unit[1]))
		return false;
	if (*unit) {
		size_t i = 0;
		while (i < BE_ARRAY_LEN(units) && units[i].letter != *unit)
			i++;
		if (i == BE_ARRAY_LEN(units) || __builtin_mul_overflow(value, units[i].seconds, &value))
			return false;
	}
	*seconds = value;
	return true;
}

/* What stands before the percent sign, as a fraction @part / @whole. */
static const char *percentage(const char *text, int64_t *part, int64_t *whole)
{
	const char *p = digits(text, part);
	*whole = 100;
	if (!p || *p != '.')
		return p;
	if (!isdigit((unsigned char)p[1]))
		return NULL;
	for (p++; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(*part, 10, part) || __builtin_add_overflow(*part, *p - '0', part) ||
		    __builtin_mul_overflow(*whole, 10, whole))
			return NULL;
	return p;
}

bool be_parse_count(const char *text, int64_t base, int64_t *count)
{
	int64_t part, whole;
	const char *p = percentage(text, &part, &whole);
	if (p && strcmp(p, "%") == 0) {
		if (__builtin_mul_overflow(part, base, &part))
			return false;
		*count = part / whole;
		return true;
	}
	p = digits(text, &part);
	if (!p || strlen(p) > 16)
		return false;
	for (; *p; p++)
		if (!islower((unsigned char)*p))
			return false;
	*count = part;
	return true;
}

const char *be_size_text(int64_t bytes, char buf[32])
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	size_t unit = 0;
	while (unit + 1 < BE_ARRAY_LEN(units) && (bytes >> (10 * (unit + 1))) != 0)
		unit++;
	int64_t one = INT64_C(1) << (10 * unit);
	if (bytes % one == 0)
		snprintf(buf, 32, "%" PRId64 " %s", bytes / one, units[unit]);
	else
		snprintf(buf, 32, "%.1f %s", (double)bytes / (double)one, units[unit]);
	return buf;
}
