/* Keys and values that a report joins by slashes, although a value may hold slashes itself. */
#include "mail_parts.h"

#include <string.h>

#define MAX_KEYS 64u
#define MAX_PIECES 96u

struct align {
	const struct be_node *keys, *known;
	struct be_strv pieces;
	/* ways[i][j]: in how many ways (2 stands for more) keys from i on cover the pieces from j on */
	unsigned char ways[MAX_KEYS + 1][MAX_PIECES + 1];
};

/* Splits at every slash; empty pieces count, as in "host:/osimage/x". */
static void split(struct be_strv *pieces, const char *text)
{
	for (const char *slash; (slash = strchr(text, '/')); text = slash + 1)
		be_strv_take(pieces, be_strndup(text, (size_t)(slash - text)));
	be_strv_add(pieces, text);
}

static char *join(const struct be_strv *pieces, size_t from, size_t to)
{
	be_autobuf struct be_buf text = { 0 };
	for (size_t i = from; i < to; i++)
		be_buf_addf(&text, "%s%s", i > from ? "/" : "", pieces->v[i]);
	be_autofree char *joined = be_buf_steal(&text);
	return be_strdup(be_trim(joined));
}

/* May key @i have the pieces from @j to before @k as its value? */
static bool fits(const struct align *a, size_t i, size_t j, size_t k)
{
	const char *known = be_get_str(a->known, a->keys->items[i]->text, NULL);
	if (!known)
		return true;
	be_autofree char *value = join(&a->pieces, j, k);
	return strcmp(value, known) == 0;
}

static void count_ways(struct align *a)
{
	size_t n = a->keys->n, m = a->pieces.n;
	a->ways[n][m] = 1;
	for (size_t i = n; i-- > 0;) {
		for (size_t j = m; j-- > i;) {
			unsigned ways = 0;
			/* the keys behind need a piece each */
			for (size_t k = j + 1; k + (n - i - 1) <= m && ways < 2; k++)
				if (a->ways[i + 1][k] && fits(a, i, j, k))
					ways += a->ways[i + 1][k];
			a->ways[i][j] = ways > 2 ? 2 : (unsigned char)ways;
		}
	}
}

static struct be_node *pick(const struct align *a)
{
	struct be_node *map = be_node_map();
	size_t j = 0;
	for (size_t i = 0; i < a->keys->n; i++) {
		size_t k = j + 1;
		while (!a->ways[i + 1][k] || !fits(a, i, j, k))
			k++;
		be_autofree char *value = join(&a->pieces, j, k);
		be_set(map, a->keys->items[i]->text, be_mail_value(value));
		j = k;
	}
	return map;
}

struct be_node *be_mail_align(const struct be_node *keys, const char *values, const struct be_node *known)
{
	struct align a = { .keys = keys, .known = known };
	struct be_node *map = NULL;
	split(&a.pieces, values);
	if (keys->n && keys->n <= MAX_KEYS && a.pieces.n >= keys->n && a.pieces.n <= MAX_PIECES) {
		/* With one piece each the values are what they are: whether they agree with what is known is for the
		 * caller to see. */
		if (a.pieces.n == keys->n)
			a.known = NULL;
		count_ways(&a);
		if (a.ways[0][0] == 1)
			map = pick(&a);
	}
	be_strv_free(&a.pieces);
	return map;
}
