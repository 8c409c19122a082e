/* Whole numbers of up to some 4,600 decimal digits: magnitudes in 32-bit limbs, lowest first, no
 * zero limb on top. What does not fit is reported, never cut. */
#ifndef KR_TEXT_JINJA_BIG_H
#define KR_TEXT_JINJA_BIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KR_BIG_LIMBS = 480, KR_BIG_TEXT = 32 * KR_BIG_LIMBS / 3 };

typedef struct kr_big {
  uint32_t n;
  uint32_t limb[KR_BIG_LIMBS];
} kr_big;

void kr_big_set(kr_big *a, uint64_t value);
void kr_big_copy(kr_big *a, const kr_big *b);
int kr_big_compare(const kr_big *a, const kr_big *b);
int64_t kr_big_bits(const kr_big *a); /* 0 for 0 */
bool kr_big_add(kr_big *a, const kr_big *b);
void kr_big_subtract(kr_big *a, const kr_big *b);                    /* a >= b */
bool kr_big_multiply(const kr_big *a, const kr_big *b, kr_big *ret); /* ret is neither */
bool kr_big_multiply_small(kr_big *a, uint32_t factor, uint32_t add);
bool kr_big_times_power_of_10(kr_big *a, uint32_t power);
bool kr_big_shift_left(kr_big *a, uint32_t bits);
uint32_t kr_big_divide_small(kr_big *a, uint32_t by); /* returns the remainder */
/* b is not 0; none of the four is another. ret_remainder may be NULL. */
void kr_big_divide(const kr_big *a, const kr_big *b, kr_big *ret_quotient, kr_big *ret_remainder);
/* Decimal digits, without a zero at the end; out has KR_BIG_TEXT bytes. Returns their number. */
size_t kr_big_decimal(const kr_big *a, char *out);

#endif
