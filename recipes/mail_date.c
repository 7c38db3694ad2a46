/* The day of a report: of the mail, or, where the report is quoted, of the mail that is quoted. */
#include "mail_parts.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define JOINED 3 /* lines that "On DATE, NAME wrote:" may be wrapped to */

static unsigned month_of(const char *word)
{
	static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
	for (unsigned m = 0; m < 12; m++)
		if (strncasecmp(word, names + 3 * m, 3) == 0)
			return m + 1;
	return 0;
}

static bool set_date(char date[16], long year, long month, long day)
{
	if (year < 100)
		year += year < 70 ? 2000 : 1900;
	if (year < 1990 || year > 2100 || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	snprintf(date, 16, "%04ld-%02ld-%02ld", year, month, day);
	return true;
}

/*
 * Three numbers with one mark between them. 2020/4/10, 25/08/2021, 10/8/22: the year first, or a number above 12, or
 * a clock with AM and PM (only used where the month comes first), or points and dashes (day first), or a year of two
 * digits behind slashes (month first) tell the order. 08/03/2025 18:59 is day first: where the month comes first, no
 * zero is put in front. Everything else is unknown.
 */
static bool numeric_date(const char *text, char date[16])
{
	long a, b, c;
	char m1[2], m2[2];
	int end = 0;
	if (sscanf(text, "%4ld%1[/.-]%2ld%1[/.-]%4ld%n", &a, m1, &b, m2, &c, &end) != 5 || m1[0] != m2[0] ||
	    isdigit((unsigned char)text[end]))
		return false;
	if (a > 31)
		return set_date(date, a, b, c);
	if (m1[0] != '/')
		return set_date(date, c, b, a);
	if (a > 12)
		return set_date(date, c, b, a);
	if (b > 12)
		return set_date(date, c, a, b);
	const char *clock = text + end;
	size_t near = strcspn(clock, ",");
	bool twelve = near < 16 && (memmem(clock, near, "AM", 2) || memmem(clock, near, "PM", 2));
	if (twelve || c < 100)
		return set_date(date, c, a, b);
	if (text[0] == '0')
		return set_date(date, c, b, a);
	return false;
}

/* "8 Oct 2022", "Oct 8, 2022", and as git has it, "Oct 26 22:45:29 2009". */
static bool named_date(const char *text, char date[16])
{
	long day, year;
	char name[16];
	if (sscanf(text, "%2ld %15[A-Za-z] %4ld", &day, name, &year) == 3 && month_of(name))
		return set_date(date, year, month_of(name), day);
	if (sscanf(text, "%15[A-Za-z] %2ld%*[, ]%*2d:%*2d:%*2d %4ld", name, &day, &year) == 3 && month_of(name))
		return set_date(date, year, month_of(name), day);
	if (sscanf(text, "%15[A-Za-z] %2ld%*[, ]%4ld", name, &day, &year) == 3 && month_of(name))
		return year > 1000 && set_date(date, year, month_of(name), day);
	return false;
}

/* The first date in @text as YYYY-MM-DD; false: there is none, or which number is the month cannot be told. */
static bool first_date(const char *text, char date[16])
{
	for (const char *p = text; *p; p++) {
		if (p > text && isalnum((unsigned char)p[-1]))
			continue;
		if (!isalnum((unsigned char)*p))
			continue;
		if (numeric_date(p, date) || named_date(p, date))
			return true;
	}
	return false;
}

/* The lines that end at @at, of one depth, as one text: the words before a quoted mail may be wrapped. */
static char *joined(const struct be_mail_lines *lines, size_t at)
{
	size_t first = at;
	while (first && at - first < JOINED - 1 && lines->v[first - 1].depth == lines->v[at].depth &&
	       lines->v[first - 1].text[0])
		first--;
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = first; i <= at; i++)
		be_buf_addf(&text, "%s ", lines->v[i].text);
	return be_buf_steal(&text);
}

/* "On DATE, NAME wrote:"; the last "On" counts, others may stand in a sentence before it. */
static bool attribution(const struct be_mail_lines *lines, size_t at, char date[16])
{
	if (!strstr(lines->v[at].text, "wrote"))
		return false;
	be_autofree char *text = joined(lines, at);
	char *end = NULL;
	for (char *p = text; (p = strstr(p, "wrote")); p++)
		end = p;
	if (!end)
		return false;
	*end = '\0';
	const char *on = NULL;
	for (const char *p = text; (p = strstr(p, "On ")); p++)
		if (p == text || p[-1] == ' ')
			on = p;
	return on && strlen(on) < 300 && first_date(on, date);
}

/* "Date: ..." of a mail, not of a commit; also as a row "| Date | ... |" of a page. */
static bool own_date(const struct be_mail_lines *lines, size_t at, char date[16])
{
	const char *text = lines->v[at].text, *rest = be_mail_after(text, "Date:");
	if (lines->v[at].depth || (at && be_mail_after(lines->v[at - 1].text, "Author:")))
		return false;
	if (!rest && (rest = be_mail_after(text, "|")))
		rest = be_mail_after(rest, "Date") ? strchr(rest, '|') : NULL;
	return rest && first_date(rest, date);
}

static bool find_own_date(const struct be_mail_lines *lines, size_t at, char date[16])
{
	for (size_t i = at + 1; i-- > 0;)
		if (own_date(lines, i, date))
			return true;
	return false;
}

static bool find_quoted_date(const struct be_mail_lines *lines, size_t at, char date[16])
{
	unsigned depth = lines->v[at].depth;
	char own[16];
	/* Answers may stand between the words that quote a mail and this part of it; another mail may not. */
	for (size_t i = at; i-- > 0 && !own_date(lines, i, own);)
		if (lines->v[i].depth == depth - 1 && attribution(lines, i, date))
			return true;
	return false;
}

/*
 * A table without a date of its own: it is not older than the mails that are quoted above it, and, where there are
 * none, not newer than the first that is quoted below it.
 */
static bool find_thread_date(const struct be_mail_lines *lines, size_t at, char date[16])
{
	char one[16];
	date[0] = '\0';
	for (size_t i = 0; i < at; i++)
		if (attribution(lines, i, one) && strcmp(one, date) > 0)
			memcpy(date, one, sizeof(one));
	if (date[0])
		return true;
	for (size_t i = at; i < lines->n; i++)
		if (attribution(lines, i, one) && (!date[0] || strcmp(one, date) < 0))
			memcpy(date, one, sizeof(one));
	return date[0] != '\0';
}

void be_mail_set_date(struct be_node *table, const struct be_mail_lines *lines, size_t at)
{
	char date[16];
	const char *from = NULL;
	if (lines->v[at].depth && find_quoted_date(lines, at, date))
		from = "quote";
	else if (find_own_date(lines, at, date))
		from = "mail";
	else if (find_thread_date(lines, at, date))
		from = "thread";
	if (!from)
		return;
	be_set_str(table, "date", date);
	be_set_str(table, "date_from", from);
}
