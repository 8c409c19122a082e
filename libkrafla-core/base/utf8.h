/* UTF-8, one code point at a time. */
#ifndef KR_BASE_UTF8_H
#define KR_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KR_UTF8_INVALID UINT32_C(0xffffffff)

/* The code point at s (n > 0 bytes left) and the bytes that it takes. Of invalid input the maximal
 * subpart is taken (Unicode 16, 3.9, table 3-8): 1 to 3 bytes, *ret_code is KR_UTF8_INVALID. */
static inline size_t kr_utf8_next(const uint8_t *s, size_t n, uint32_t *ret_code) {
  uint8_t c = s[0];
  if (c < 0x80) return *ret_code = c, 1;
  *ret_code = KR_UTF8_INVALID;
  size_t length = c >= 0xc2 && c <= 0xdf   ? 2
                  : c >= 0xe0 && c <= 0xef ? 3
                  : c >= 0xf0 && c <= 0xf4 ? 4
                                           : 1;
  if (length == 1) return 1;
  /* the second byte's range depends on the first: no overlong forms, surrogates, or past U+10FFFF
   */
  uint8_t low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
  uint8_t high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
  uint32_t code = c & (0x7f >> length);
  for (size_t i = 1; i < length; i++) {
    if (i >= n || s[i] < low || s[i] > high) return i;
    code = code << 6 | (s[i] & 63);
    low = 0x80, high = 0xbf;
  }
  *ret_code = code;
  return length;
}

/* Writes a code point; out has room for 4 bytes. */
static inline size_t kr_utf8_put(uint32_t code, char *out) {
  uint8_t *o = (uint8_t *)out;
  if (code < 0x80) return o[0] = (uint8_t)code, 1;
  if (code < 0x800) {
    o[0] = (uint8_t)(0xc0 | code >> 6), o[1] = (uint8_t)(0x80 | (code & 63));
    return 2;
  }
  if (code < 0x10000) {
    o[0] = (uint8_t)(0xe0 | code >> 12), o[1] = (uint8_t)(0x80 | (code >> 6 & 63));
    o[2] = (uint8_t)(0x80 | (code & 63));
    return 3;
  }
  o[0] = (uint8_t)(0xf0 | code >> 18), o[1] = (uint8_t)(0x80 | (code >> 12 & 63));
  o[2] = (uint8_t)(0x80 | (code >> 6 & 63)), o[3] = (uint8_t)(0x80 | (code & 63));
  return 4;
}

#endif
