/* Values as a mail may show them: one line, no serial numbers. */
#include "builder/report/manifest_text.h"

#include <string.h>

#include "builder/report/manifest.h"

/* Keys of an observed device that tell one copy of it from another. */
static bool is_private(const char *key)
{
	static const char *const keys[] = { "serial", "wwn", "by_id", "uuid" };
	for (size_t i = 0; i < BE_ARRAY_LEN(keys); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_.:+-", c);
}

size_t be_disk_model_length(const char *s, size_t len)
{
	static const char *const by_number[] = { "wwn-0x", "scsi-3", "nvme-eui.", "pmem-" };
	static const char *const by_model[] = { "ata-", "nvme-", "scsi-", "virtio-", "usb-" };
	for (size_t i = 0; i < BE_ARRAY_LEN(by_number); i++)
		if (be_starts(s, by_number[i]) && len > strlen(by_number[i]) + 6)
			return strlen(by_number[i]);
	for (size_t i = 0; i < BE_ARRAY_LEN(by_model); i++) {
		if (!be_starts(s, by_model[i]))
			continue;
		for (size_t n = len; n > strlen(by_model[i]); n--)
			if (s[n - 1] == '_')
				return n;
	}
	return 0;
}

char *be_text_public(const char *text)
{
	be_autobuf struct be_buf out = { 0 };
	for (const char *s = text; *s;) {
		size_t len = 0;
		while (s[len] && is_name_char(s[len]))
			len++;
		size_t model = be_disk_model_length(s, len);
		if (len == 0) {
			be_buf_addc(&out, (unsigned char)*s < ' ' ? ' ' : *s);
			s++;
		} else if (model == 0) {
			be_buf_add(&out, s, len);
			s += len;
		} else {
			const char *part = NULL;
			for (size_t i = model; i + 5 < len && !part; i++)
				if (be_starts(s + i, "-part"))
					part = s + i;
			be_buf_add(&out, s, model);
			be_buf_adds(&out, "...");
			if (part)
				be_buf_add(&out, part, len - (size_t)(part - s));
			s += len;
		}
	}
	return be_buf_steal(&out);
}

static void add_value(struct be_buf *out, const struct be_node *value)
{
	if (!value || value->kind == BE_NULL)
		return;
	if (value->kind == BE_SCALAR) {
		be_autofree char *text = be_text_public(value->text);
		be_buf_adds(out, be_trim(text));
		return;
	}
	for (size_t i = 0, shown = 0; i < value->n; i++) {
		if (value->kind == BE_MAP && is_private(value->keys[i]))
			continue;
		if (shown++)
			be_buf_adds(out, ", ");
		if (value->kind == BE_MAP)
			be_buf_addf(out, "%s ", value->keys[i]);
		add_value(out, value->items[i]);
	}
}

char *be_value_line(const struct be_node *value)
{
	be_autobuf struct be_buf out = { 0 };
	add_value(&out, value);
	return be_buf_steal(&out);
}

void be_text_shorten(char *text, size_t width)
{
	if (strlen(text) <= width)
		return;
	size_t at = width - 3;
	while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
		at--;
	memcpy(text + at, "...", sizeof("...")); /* there is room: the text was longer */
}

void be_wrap_words(struct be_buf *out, const char *first, const char *rest, const struct be_strv *words,
		   const char *glue)
{
	size_t column = strlen(first);
	be_buf_adds(out, first);
	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->v[i], *lead = i ? glue : "";
		if (i && column + strlen(lead) + strlen(word) > BE_MANIFEST_COLUMNS) {
			be_buf_addf(out, "\n%s", rest);
			column = strlen(rest);
			lead = "";
		}
		be_buf_adds(out, lead);
		column += strlen(lead);
		/* A word longer than a line is broken where the line ends. */
		while (column + strlen(word) > BE_MANIFEST_COLUMNS) {
			size_t room = column < BE_MANIFEST_COLUMNS ? BE_MANIFEST_COLUMNS - column : 1;
			while (room > 1 && ((unsigned char)word[room] & 0xc0) == 0x80)
				room--;
			be_buf_add(out, word, room);
			be_buf_addf(out, "\n%s", rest);
			word += room;
			column = strlen(rest);
		}
		be_buf_adds(out, word);
		column += strlen(word);
	}
	be_buf_addc(out, '\n');
}

void be_wrap_text(struct be_buf *out, const char *first, const char *rest, const char *text)
{
	be_autostrv struct be_strv words = { 0 };
	be_strv_split(&words, text, " \t\r\n");
	be_wrap_words(out, first, rest, &words, " ");
}
