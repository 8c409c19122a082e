/* Literals of templates: what strings and numbers in the source stand for. */
#ifndef KR_TEXT_JINJA_LITERAL_H
#define KR_TEXT_JINJA_LITERAL_H

#include "text/jinja/jinja_value.h"

/* The text between the quotes, escapes done as in Python's unicode-escape. On a bad escape *ret_why
 * says what is wrong. */
bool kr_jliteral_string(kr_jctx *c, const char *p, size_t n, kr_jvalue *ret, const char **ret_why);

/* The number at p, which begins with a digit; *ret_n: its bytes. Behind a dot it is a whole one. */
bool kr_jliteral_number(kr_jctx *c, const char *p, size_t n, bool after_dot, kr_jvalue *ret,
                        size_t *ret_n);

#endif
