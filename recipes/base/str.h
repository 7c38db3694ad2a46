/*
 * Memory and text. Allocation never returns NULL: a process without memory ends with a message and BE_FAILED, which for
 * tools of this size is the only useful answer.
 */
#ifndef BE_BASE_STR_H
#define BE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/error.h"

#define be_cleanup(f) __attribute__((cleanup(f)))
#define be_autofree be_cleanup(be_free_ptr)

static inline void be_free_ptr(void *p)
{
	free(*(void **)p);
}

/* Gives up ownership: returns *pp and sets it to NULL. */
#define be_steal(pp)                          \
	({                                    \
		__typeof__(*(pp)) p_ = *(pp); \
		*(pp) = NULL;                 \
		p_;                           \
	})

#define BE_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void *be_alloc(size_t size) __attribute__((malloc, returns_nonnull)); /* zeroed */
void *be_realloc(void *p, size_t n, size_t size);                     /* n items; overflow is checked */
char *be_strdup(const char *s);                                       /* NULL stays NULL */
char *be_strndup(const char *s, size_t n) __attribute__((returns_nonnull));
char *be_strf(const char *fmt, ...) BE_PRINTF(1, 2);
char *be_vstrf(const char *fmt, va_list args) BE_PRINTF(1, 0);

bool be_streq(const char *a, const char *b); /* NULL equals only NULL */
bool be_starts(const char *s, const char *prefix);
bool be_ends(const char *s, const char *suffix);
char *be_trim(char *s); /* cuts blanks at both ends in place; returns the new start inside @s */
bool be_parse_int(const char *text, int64_t *value); /* the whole text is a decimal number that fits */
/* Edit distance of two short words, at most 255; for "did you mean". */
unsigned be_distance(const char *a, const char *b);

/* A growing text. Always NUL-terminated once something was added; data may hold NUL bytes. Zero-initialise. */
struct be_buf {
	char *data;
	size_t len, cap;
};
void be_buf_free(struct be_buf *b);
#define be_autobuf be_cleanup(be_buf_free)
void be_buf_add(struct be_buf *b, const void *data, size_t len);
void be_buf_adds(struct be_buf *b, const char *s);
void be_buf_addc(struct be_buf *b, char c);
void be_buf_addf(struct be_buf *b, const char *fmt, ...) BE_PRINTF(2, 3);
char *be_buf_steal(struct be_buf *b); /* never NULL: "" when nothing was added; the caller frees */
/* Adds @s as one word of a POSIX shell, quoted only where needed. */
void be_buf_add_shell(struct be_buf *b, const char *s);

/* A list of texts that owns its members; v is NULL-terminated (an argument vector) once something was added. */
struct be_strv {
	char **v;
	size_t n, cap;
};
void be_strv_free(struct be_strv *s);
#define be_autostrv be_cleanup(be_strv_free)
void be_strv_add(struct be_strv *s, const char *text);
void be_strv_addf(struct be_strv *s, const char *fmt, ...) BE_PRINTF(2, 3);
void be_strv_take(struct be_strv *s, char *text); /* takes ownership of @text */
void be_strv_add_all(struct be_strv *s, const struct be_strv *more);
bool be_strv_has(const struct be_strv *s, const char *text);
void be_strv_sort_unique(struct be_strv *s); /* by strcmp: the same in every locale */
/* Splits @text at any of the bytes in @seps; empty pieces are left out. */
void be_strv_split(struct be_strv *s, const char *text, const char *seps);

#endif
