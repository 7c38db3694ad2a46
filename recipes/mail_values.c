/*
 * "2M-performance-2pmem-xfs-libaio-dax-50%-200s-read-200G-tb": values without keys. LKP joins them in the order of
 * their keys' names, and each key's values have a form of their own (mail.yaml); what can be read in one way only is
 * read.
 */
#include "mail_parts.h"

#include <regex.h>
#include <string.h>

#define MAX_KEYS 64u
#define MAX_PIECES 48u
#define MAX_VALUE 256u /* bytes of the longest value */

struct values {
	const struct be_node *patterns; /* key -> expression */
	struct be_strv keys, pieces;
	regex_t re[MAX_KEYS];
	size_t compiled;
	unsigned char ways[MAX_KEYS + 1][MAX_PIECES + 1]; /* 2 stands for more */
};

/* The pieces from @from to before @to as one value, `ucode=0x21` without its key; the caller frees. */
static char *value_of(const struct values *v, size_t key, size_t from, size_t to)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = from; i < to; i++)
		be_buf_addf(&text, "%s%s", i > from ? "-" : "", v->pieces.v[i]);
	size_t n = strlen(v->keys.v[key]);
	bool named = be_starts(text.data, v->keys.v[key]) && text.data[n] == '=';
	return be_strdup(text.data + (named ? n + 1 : 0));
}

static bool fits(const struct values *v, size_t key, size_t from, size_t to)
{
	be_autofree char *value = value_of(v, key, from, to);
	regmatch_t m;
	if (strlen(value) > MAX_VALUE)
		return false;
	return regexec(&v->re[key], value, 1, &m, 0) == 0 && m.rm_so == 0 && !value[m.rm_eo];
}

static int compile(struct values *v, struct be_error *err)
{
	for (size_t i = 0; i < v->keys.n; i++) {
		const struct be_node *pattern = be_get(v->patterns, v->keys.v[i]);
		if (pattern->kind != BE_SCALAR || regcomp(&v->re[i], pattern->text, REG_EXTENDED) != 0)
			return be_fail(err, "%s: is no regular expression", be_where(pattern));
		v->compiled++;
	}
	return 0;
}

static void count_ways(struct values *v)
{
	size_t n = v->keys.n, m = v->pieces.n;
	v->ways[n][m] = 1;
	for (size_t i = n; i-- > 0;) {
		for (size_t j = 0; j <= m; j++) {
			unsigned ways = v->ways[i + 1][j]; /* the key is not there */
			for (size_t k = j + 1; k <= m && k <= j + 3 && ways < 2; k++)
				if (v->ways[i + 1][k] && fits(v, i, j, k))
					ways += v->ways[i + 1][k];
			v->ways[i][j] = ways > 2 ? 2 : (unsigned char)ways;
		}
	}
}

static struct be_node *pick(const struct values *v)
{
	struct be_node *map = be_node_map();
	for (size_t i = 0, j = 0; i < v->keys.n; i++) {
		if (v->ways[i + 1][j])
			continue;
		size_t k = j + 1;
		while (!v->ways[i + 1][k] || !fits(v, i, j, k))
			k++;
		be_autofree char *value = value_of(v, i, j, k);
		be_set(map, v->keys.v[i], be_mail_value(value));
		j = k;
	}
	return map;
}

int be_mail_decode(const char *path_params, const struct be_node *patterns, const struct be_strv *keys,
		   struct be_node **map, struct be_error *err)
{
	struct values v = { .patterns = patterns };
	*map = NULL;
	be_strv_add_all(&v.keys, keys);
	be_strv_sort_unique(&v.keys);
	be_strv_split(&v.pieces, path_params, "-");
	int rc = v.keys.n && v.keys.n <= MAX_KEYS && v.pieces.n && v.pieces.n <= MAX_PIECES ? compile(&v, err) : 1;
	if (rc == 0) {
		count_ways(&v);
		if (v.ways[0][0] == 1)
			*map = pick(&v);
	}
	for (size_t i = 0; i < v.compiled; i++)
		regfree(&v.re[i]);
	be_strv_free(&v.keys);
	be_strv_free(&v.pieces);
	return rc < 0 ? -1 : 0;
}
