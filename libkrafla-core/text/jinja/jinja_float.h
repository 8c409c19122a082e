/* Floats to text and back, exactly and without the C library, whose functions follow the locale. */
#ifndef KR_TEXT_JINJA_FLOAT_H
#define KR_TEXT_JINJA_FLOAT_H

#include "text/jinja/jinja_big.h"

enum { KR_FLOAT_TEXT = 32, KR_FLOAT_MAX_DECIMALS = 300, KR_FLOAT_FIXED = 640 };

/* repr(x) of Python: the fewest digits that give x back. Returns the number of bytes. */
size_t kr_float_repr(double x, char out[KR_FLOAT_TEXT]);
/* "%.Nf" % x; decimals <= KR_FLOAT_MAX_DECIMALS; x is finite. */
size_t kr_float_fixed(double x, uint32_t decimals, char out[KR_FLOAT_FIXED]);
/* digits significant digits of a finite x that is not 0, rounded half to even; x is about
 * 0.DIGITS * 10^*ret_point. digits <= KR_FLOAT_MAX_DECIMALS. */
void kr_float_digits(double x, uint32_t digits, char *out, int32_t *ret_point);
/* round(x, decimals) of Python. */
double kr_float_round(double x, int64_t decimals);
/* [+-] digits [. digits] [e [+-] digits], all of it; underscores between digits are allowed.
 * false if it is not that. Correctly rounded; overflow gives infinity. */
bool kr_float_parse(const char *text, size_t n, double *ret);
/* numerator / denominator, neither 0, to the nearest double, ties to even; both are used up. */
double kr_float_ratio(kr_big *numerator, kr_big *denominator);
/* Correctly rounded. */
double kr_float_of_big(const kr_big *a);
/* The integer part of |x|, which is finite. */
void kr_float_to_big(double x, kr_big *ret);

#endif
