#include "builder/report/scrub_words.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "builder/report/manifest_text.h"

#define ANYWHERE 6 /* a serial of this length is replaced wherever it stands, a shorter one only in a disk's name */
#define OUR_UUID "62656e63-6865-6e76-" /* of what disk-setup made */

void be_secrets_free(struct be_secrets *secrets)
{
	for (size_t i = 0; i < secrets->n; i++) {
		free(secrets->v[i].word);
		free(secrets->v[i].instead);
	}
	free(secrets->v);
	*secrets = (struct be_secrets){ 0 };
}

static const struct be_secret *find(const struct be_secrets *secrets, const char *word, size_t len)
{
	for (size_t i = 0; i < secrets->n; i++)
		if (strncmp(secrets->v[i].word, word, len) == 0 && !secrets->v[i].word[len])
			return &secrets->v[i];
	return NULL;
}

/* Takes ownership of @instead. */
static const char *add(struct be_secrets *secrets, const char *word, size_t len, char *instead)
{
	secrets->v = be_realloc(secrets->v, secrets->n + 1, sizeof(*secrets->v));
	secrets->v[secrets->n++] = (struct be_secret){ be_strndup(word, len), instead };
	return instead;
}

/* Made-up serials that are there already are not given to others. */
static void note_made_up(struct be_secrets *secrets, const char *word)
{
	const char *number = word + strcspn(word, "0123456789");
	unsigned long n = strtoul(number, NULL, 10);
	if (n > secrets->serials && n < 1000000)
		secrets->serials = n;
}

const char *be_secret_serial(struct be_secrets *secrets, const char *word, size_t len)
{
	const struct be_secret *known = find(secrets, word, len);
	be_autofree char *copy = be_strndup(word, len);
	const char *made_up = strstr(copy, BE_SCRUB_WORD);
	if (known || !len || made_up || secrets->counting) {
		if (made_up)
			note_made_up(secrets, made_up);
		return known ? known->instead : NULL;
	}
	return add(secrets, word, len,
		   secrets->publishing ? be_strdup(copy) : be_strf(BE_SCRUB_WORD "%02zu", ++secrets->serials));
}

const char *be_secret_uuid(struct be_secrets *secrets, const char *word)
{
	const struct be_secret *known = find(secrets, word, strlen(word));
	if (known || secrets->counting || strlen(word) < ANYWHERE || be_starts(word, OUR_UUID) ||
	    be_starts(word, "00000000-"))
		return known ? known->instead : NULL;
	return add(secrets, word, strlen(word), be_strf("00000000-0000-4000-8000-%012zu", ++secrets->uuids));
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("_.+-", c));
}

/* The serial in the disk's name that begins at @s and is @len long; its length, 0: there is none. */
static size_t serial_in(const char *s, size_t len, const char **serial)
{
	size_t model = be_disk_model_length(s, len), end = len;
	for (size_t i = model; model && i + 5 <= len && end == len; i++)
		if (be_starts(s + i, "-part"))
			end = i;
	*serial = s + model;
	return model ? end - model : 0;
}

void be_secrets_collect(struct be_secrets *secrets, const char *text)
{
	for (const char *s = text; *s;) {
		const char *serial;
		size_t len = 0;
		while (is_name_char(s[len]))
			len++;
		size_t n = serial_in(s, len, &serial);
		if (n)
			be_secret_serial(secrets, serial, n);
		s += len ? len : 1;
	}
}

void be_secrets_publish(struct be_secrets *secrets, const char *text)
{
	secrets->publishing = true;
	be_secrets_collect(secrets, text);
	secrets->publishing = false;
}

/* The length of a MAC address at @s, 0: none. */
static size_t mac_length(const char *s)
{
	for (size_t i = 0; i < 17; i++) {
		bool colon = i % 3 == 2;
		if (colon ? s[i] != ':' : !s[i] || !strchr("0123456789abcdefABCDEF", s[i]))
			return 0;
	}
	return is_name_char(s[17]) || s[17] == ':' ? 0 : 17;
}

/* Addresses that belong to nobody: loopback, QEMU's user network, documentation. */
static bool is_public_address(const char *address)
{
	static const char *const prefixes[] = { "127.",      "0.0.0.0",           "255.",       "10.0.2.",
						"192.0.2.",  "198.51.100.",       "203.0.113.", "2001:db8:",
						"52:54:00:", "00:00:00:00:00:00", "ff:ff:ff",   "::" };
	for (size_t i = 0; i < BE_ARRAY_LEN(prefixes); i++)
		if (be_starts(address, prefixes[i]))
			return true;
	return false;
}

/* An IPv4 or IPv6 address that a word begins with, as far as the word goes; 0: none. */
static size_t ip_length(const char *s)
{
	char word[INET6_ADDRSTRLEN];
	unsigned char bytes[16];
	size_t four = strspn(s, "0123456789."), six = strspn(s, "0123456789abcdefABCDEF:");
	while (four && s[four - 1] == '.')
		four--;
	if (four >= 7 && four < sizeof(word) && (!is_name_char(s[four]) || s[four] == '.')) {
		snprintf(word, sizeof(word), "%.*s", (int)four, s);
		if (inet_pton(AF_INET, word, bytes) == 1)
			return four;
	}
	if (six >= 6 && six < sizeof(word) && !is_name_char(s[six]) && s[six] != ':') {
		snprintf(word, sizeof(word), "%.*s", (int)six, s);
		if (inet_pton(AF_INET6, word, bytes) == 1)
			return six;
	}
	return 0;
}

static void add_address(struct be_secrets *secrets, const char *s, size_t len, bool mac, struct be_buf *out)
{
	be_autofree char *word = be_strndup(s, len);
	const struct be_secret *known = find(secrets, s, len);
	if (is_public_address(word))
		be_buf_adds(out, word);
	else if (known)
		be_buf_adds(out, known->instead);
	else if (mac)
		be_buf_adds(out, add(secrets, s, len, be_strf("52:54:00:00:00:%02zx", ++secrets->macs & 0xff)));
	else if (memchr(s, ':', len))
		be_buf_adds(out, add(secrets, s, len, be_strf("2001:db8::%zx", ++secrets->ips)));
	else
		be_buf_adds(out, add(secrets, s, len, be_strf("192.0.2.%zu", ++secrets->ips & 0xff)));
}

/* user@host, but for mailing lists that everybody knows. Returns how much of @s it took, 0: it is none. */
static size_t add_mail(const char *s, size_t len, struct be_buf *out)
{
	static const char *const lists[] = { "lists.debian.org", "lists.linux.dev", "vger.kernel.org", "lists.01.org" };
	size_t host = 0;
	if (!len || s[len] != '@')
		return 0;
	while (is_name_char(s[len + 1 + host]))
		host++;
	for (size_t i = 0; i < BE_ARRAY_LEN(lists); i++)
		if (strlen(lists[i]) == host && be_starts(s + len + 1, lists[i])) {
			be_buf_add(out, s, len + 1 + host);
			return len + 1 + host;
		}
	if (!host)
		return 0;
	be_buf_adds(out, "user@host");
	return len + 1 + host;
}

/* The host of a URL at @s, behind "://". */
static size_t add_url_host(const char *s, struct be_buf *out)
{
	size_t len = 0;
	if (!be_starts(s, "://"))
		return 0;
	while (is_name_char(s[3 + len]))
		len++;
	if (!len || ip_length(s + 3))
		return 0;
	be_buf_adds(out, "://host");
	return 3 + len;
}

/* A word of name characters: a disk's name, or one that holds a known serial. */
static void add_word(struct be_secrets *secrets, const char *s, size_t len, struct be_buf *out)
{
	const char *serial;
	size_t n = serial_in(s, len, &serial);
	const struct be_secret *known = n ? find(secrets, serial, n) : NULL;
	if (known) {
		be_buf_add(out, s, (size_t)(serial - s));
		be_buf_adds(out, known->instead);
		be_buf_add(out, serial + n, len - n - (size_t)(serial - s));
		return;
	}
	for (size_t i = 0; i < len;) {
		const struct be_secret *here = NULL;
		for (size_t k = 0; k < secrets->n; k++) {
			size_t size = strlen(secrets->v[k].word);
			if (size >= ANYWHERE && i + size <= len && strncmp(s + i, secrets->v[k].word, size) == 0 &&
			    (!here || size > strlen(here->word)))
				here = &secrets->v[k];
		}
		if (here)
			be_buf_adds(out, here->instead);
		else
			be_buf_addc(out, s[i]);
		i += here ? strlen(here->word) : 1;
	}
}

char *be_secrets_replace(struct be_secrets *secrets, const char *text, bool hosts)
{
	be_autobuf struct be_buf out = { 0 };
	for (const char *s = text; *s;) {
		bool begins = s == text || !is_name_char(s[-1]);
		size_t len = 0, took = 0;
		while (is_name_char(s[len]))
			len++;
		if (hosts)
			took = add_url_host(s, &out);
		if (!took && begins && (took = mac_length(s)))
			add_address(secrets, s, took, true, &out);
		else if (!took && begins && (took = ip_length(s)))
			add_address(secrets, s, took, false, &out);
		else if (!took && hosts)
			took = add_mail(s, len, &out);
		if (!took && !len)
			be_buf_addc(&out, *s);
		else if (!took)
			add_word(secrets, s, len, &out);
		s += took ? took : len ? len : 1;
	}
	return be_buf_steal(&out);
}
