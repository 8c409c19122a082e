/* Numbers of templates: Python's int (without bound up to some 4,600 digits) and float. */
#ifndef KR_TEXT_JINJA_NUMBER_H
#define KR_TEXT_JINJA_NUMBER_H

#include "text/jinja/jinja_big.h"
#include "text/jinja/jinja_value.h"

double kr_jbig_float(const kr_jbig *big);
bool kr_jnumber_is(kr_jvalue v); /* int, bool or float */
/* Exact, between int and float too: -1, 0 or 1; 2 when one is not a number. */
int kr_jnumber_compare(kr_jvalue a, kr_jvalue b);

/* + - * / % and, as '\1' and '\2', // and **, of two numbers. */
enum { KR_J_FLOORDIV = 1, KR_J_POW = 2 };
bool kr_jnumber_binary(kr_jctx *c, char op, kr_jvalue a, kr_jvalue b, kr_jvalue *ret);
bool kr_jnumber_negate(kr_jctx *c, kr_jvalue a, kr_jvalue *ret);
bool kr_jnumber_float(kr_jctx *c, kr_jvalue v, double *ret); /* OverflowError */

/* Digits in base 2, 8, 10 or 16, single underscores between them, as an integer. *ret_ok is false
 * when they are none. Fails for more than 4,300 digits, as Python does. */
bool kr_jinteger_parse(kr_jctx *c, const char *text, size_t n, uint32_t base, kr_jvalue *ret,
                       bool *ret_ok);
/* int(x) of a finite float. */
bool kr_jinteger_of_float(kr_jctx *c, double x, kr_jvalue *ret);
/* str(v) of an integer or float, to the output. */
bool kr_jnumber_write(kr_jctx *c, kr_jvalue v);
/* A bool as an int, others as they are. */
kr_jvalue kr_jnumber_plain(kr_jvalue v);

#endif
