/* Words of expressions. */
#ifndef BE_EXPR_LEX_H
#define BE_EXPR_LEX_H

#include "expr.h"

enum be_token_kind {
	BE_TOKEN_END,
	BE_TOKEN_NEWLINE, /* or a semicolon */
	BE_TOKEN_INT,
	BE_TOKEN_TEXT,
	BE_TOKEN_REGEX,
	BE_TOKEN_NAME, /* also the words of the language */
	BE_TOKEN_METHOD,
	BE_TOKEN_OPERATOR,
};

struct be_token {
	enum be_token_kind kind;
	size_t offset;    /* in the expression */
	char *text;       /* TEXT, REGEX, NAME, METHOD (without its dot); owned */
	char operator[3]; /* OPERATOR */
	int64_t number;   /* INT */
	bool ignore_case; /* REGEX */
};

void be_token_free(struct be_token *token);

/*
 * Reads the word at @offset of @text into @token, which must be empty, and returns the offset behind it, or -1.
 * @value_before: the word before ends a value, so that `/` divides; else it begins a regular expression. token->offset
 * is set in every case.
 */
long be_token_read(const char *text, size_t offset, bool value_before, struct be_token *token, struct be_error *err);

#endif
