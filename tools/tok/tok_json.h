/* The two kinds of JSON line that scripts exchange: a string, and an array of token ids. */
#ifndef KR_TOK_JSON_H
#define KR_TOK_JSON_H

#include <glib.h>

/* A whole line of n bytes. NULL, with what is wrong in *ret_what, unless it is one string. */
GString *kr_tok_read_string(const char *line, gsize n, const char **ret_what);
/* gint32 ids; NULL unless it is an array of whole numbers of that range. */
GArray *kr_tok_read_ids(const char *line, gsize n, const char **ret_what);

#endif
