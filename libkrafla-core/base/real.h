/* Elementary functions in binary64, the same on every machine: for tables that are made once and
 * rounded to f32. Not libm: its results differ between systems. Within some 1e-15: relative, of
 * sine and cosine absolute; theirs grows to 1e-7 where |x| passes 2^23. */
#ifndef KR_BASE_REAL_H
#define KR_BASE_REAL_H

double kr_real_exp(double x);                                     /* |x| < 700 */
double kr_real_log(double x);                                     /* x > 0, normal */
double kr_real_pow(double base, double exponent);                 /* base > 0 */
void kr_real_sin_cos(double x, double *ret_sin, double *ret_cos); /* |x| < 2^30 */

#endif
