/* The floating-point state that the numerics contract asks for: round to nearest even, subnormals
 * flushed in and out. Set around the work of a step, the caller's state restored after it. */
#ifndef KR_BASE_FLOAT_STATE_H
#define KR_BASE_FLOAT_STATE_H

#include <stdint.h>

#if defined(__SSE2__)
#include <immintrin.h>

/* MXCSR: exceptions masked, nearest even, flush to zero (bit 15), denormals are zero (bit 6). */
static inline uint64_t kr_float_state_set(void) {
  uint32_t old = _mm_getcsr();
  _mm_setcsr(0x1f80 | 0x8000 | 0x0040);
  return old;
}
static inline void kr_float_state_restore(uint64_t old) {
  _mm_setcsr((uint32_t)old);
}

#elif defined(__aarch64__)

static inline uint64_t kr_float_state_set(void) { /* FPCR.FZ is bit 24 */
  uint64_t old;
  __asm__ volatile("mrs %0, fpcr" : "=r"(old));
  __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)1 << 24));
  return old;
}
static inline void kr_float_state_restore(uint64_t old) {
  __asm__ volatile("msr fpcr, %0" : : "r"(old));
}

#elif defined(__arm__) && defined(__VFP_FP__) && !defined(__SOFTFP__)

static inline uint64_t kr_float_state_set(void) { /* FPSCR.FZ is bit 24 */
  uint32_t old;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(old));
  __asm__ volatile("vmsr fpscr, %0" : : "r"((uint32_t)1 << 24));
  return old;
}
static inline void kr_float_state_restore(uint64_t old) {
  __asm__ volatile("vmsr fpscr, %0" : : "r"((uint32_t)old));
}

#else

/* No flush mode known here: the contract keeps results away from where it would show. */
static inline uint64_t kr_float_state_set(void) {
  return 0;
}
static inline void kr_float_state_restore(uint64_t old) {
  (void)old;
}

#endif

#endif
