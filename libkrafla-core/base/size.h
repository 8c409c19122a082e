/* Checked arithmetic. Every size or count that comes from a file or from a caller goes through
 * these; the result is only written when it fits. */
#ifndef KR_BASE_SIZE_H
#define KR_BASE_SIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool kr_mul_size(size_t a, size_t b, size_t *ret) {
  size_t r;
  if (__builtin_mul_overflow(a, b, &r)) return false;
  *ret = r;
  return true;
}

static inline bool kr_add_size(size_t a, size_t b, size_t *ret) {
  size_t r;
  if (__builtin_add_overflow(a, b, &r)) return false;
  *ret = r;
  return true;
}

static inline bool kr_mul_u64(uint64_t a, uint64_t b, uint64_t *ret) {
  uint64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return false;
  *ret = r;
  return true;
}

static inline bool kr_add_u64(uint64_t a, uint64_t b, uint64_t *ret) {
  uint64_t r;
  if (__builtin_add_overflow(a, b, &r)) return false;
  *ret = r;
  return true;
}

/* a rounded up to a multiple of the power of two step. */
static inline bool kr_align_u64(uint64_t a, uint64_t step, uint64_t *ret) {
  uint64_t r;
  if (!kr_add_u64(a, step - 1, &r)) return false;
  *ret = r & ~(step - 1);
  return true;
}

/* For sizes that are known to be small: n rounded up to a multiple of step. */
static inline int64_t kr_round_up(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

#endif
