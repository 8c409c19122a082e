/* One call of a kernel, and the comparison of all that two kernels have written. */
#include "check.h"
#include "check_system.h"
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>
#endif

/* ---- the floating-point environment --------------------------------------------------------- */

/* Flushing of subnormals on: FTZ and DAZ of MXCSR, FZ of FPCR and FPSCR. */
#if defined(__x86_64__) || defined(__i386__)
enum { FLUSH = 0x8040, STICKY = 0x3f }; /* the exception flags may change */
static uint64_t get_state(void) {
  return _mm_getcsr();
}
static void set_state(uint64_t state) {
  _mm_setcsr((unsigned)state);
}
#elif defined(__aarch64__)
enum { FLUSH = 1 << 24, STICKY = 0 };
static uint64_t get_state(void) {
  uint64_t state;
  __asm__ volatile("mrs %0, fpcr" : "=r"(state));
  return state;
}
static void set_state(uint64_t state) {
  __asm__ volatile("msr fpcr, %0" : : "r"(state));
}
#elif defined(__arm__) && defined(__VFP_FP__)
enum { FLUSH = 1 << 24, STICKY = 0x9f | (int)0xf8000000 }; /* flags, and the comparison's result */
static uint64_t get_state(void) {
  uint32_t state;
  __asm__ volatile("vmrs %0, fpscr" : "=r"(state));
  return state;
}
static void set_state(uint64_t state) {
  __asm__ volatile("vmsr fpscr, %0" : : "r"((uint32_t)state));
}
#else
enum { FLUSH = 0, STICKY = 0 };
static uint64_t get_state(void) {
  return 0;
}
static void set_state(uint64_t state) {
  (void)state;
}
#endif

/* ---- one call ------------------------------------------------------------------------------- */

/* What the kernel did, from the address that it touched. Valid until the next call. */
static const char *describe(const kr_check_job *job, kr_check_fault kind, const uint8_t *fault) {
  static char text[160];
  if (kind == KR_CHECK_ILLEGAL) return "illegal instruction";
  if (kind == KR_CHECK_ARITHMETIC) return "arithmetic exception";
  for (int i = 0; i < job->n_buffers; i++) {
    const kr_check_buffer *b = &job->buffer[i];
    if (fault < b->map || fault >= b->map + b->map_bytes) continue;
    if (fault >= b->pages && fault < b->pages + b->page_bytes)
      snprintf(text, sizeof text, "wrote to its input %s", b->name);
    else
      snprintf(text, sizeof text, "touched memory outside of %s, %lld bytes %s it", b->name,
               fault < b->data ? (long long)(b->data - fault)
                               : (long long)(fault - b->data) - (long long)b->bytes + 1,
               fault < b->data ? "before" : "past the end of");
    return text;
  }
  return "touched memory outside of all its operands";
}

typedef struct call {
  const kr_check_job *job;
  kr_check_fn *fn;
  int n;
} call;

static void make_calls(void *data) {
  const call *c = data;
  for (int i = 0; i < c->n; i++) c->job->kernel->kind->call(c->job, c->fn);
}

const char *kr_check_run(const kr_check_job *job, kr_check_fn *fn, int calls) {
  const uint64_t before = get_state(), flushing = before | (uint64_t)FLUSH;
  call all = {job, fn, calls};
  const uint8_t *address;
  set_state(flushing);
  kr_check_fault fault = kr_check_trap(make_calls, &all, &address);
  uint64_t after = get_state();
  set_state(before);
  if (fault) return describe(job, fault, address);
  bool changed = ((after ^ flushing) & ~(uint64_t)(int64_t)STICKY) != 0;
  return changed ? "changed the floating-point environment" : NULL;
}

/* ---- comparison ----------------------------------------------------------------------------- */

static bool is_nan(uint32_t bits) {
  return (bits & 0x7fffffff) > 0x7f800000;
}

/* The first differing element of data, or -1; NaN equals NaN, whose sign and fraction no contract
 * can fix. */
static int64_t first_difference(const kr_check_buffer *buffer, const uint8_t *expected) {
  int64_t size = kr_check_element_bytes(buffer->element), n = (int64_t)buffer->bytes / size;
  for (int64_t i = 0; i < n; i++) {
    if (memcmp(buffer->data + i * size, expected + i * size, (size_t)size) == 0) continue;
    if (buffer->element == KR_CHECK_F32) {
      uint32_t a, b;
      memcpy(&a, buffer->data + i * size, 4);
      memcpy(&b, expected + i * size, 4);
      if (is_nan(a) && is_nan(b)) continue;
    }
    return i;
  }
  return -1;
}

/* Bits of one element, as a number. */
static uint32_t bits_at(const uint8_t *data, int64_t i, int64_t size) {
  uint32_t bits = 0;
  for (int64_t j = 0; j < size; j++) bits |= (uint32_t)data[i * size + j] << 8 * j;
  return bits;
}

static bool same(const kr_check_buffer *buffer, char *message, size_t room) {
  if (memcmp(buffer->pages, buffer->expected, buffer->page_bytes) == 0) return true;
  size_t start = (size_t)(buffer->data - buffer->pages);
  for (size_t i = 0; i < buffer->page_bytes; i++) {
    if (i == start) i += buffer->bytes;
    if (i < buffer->page_bytes && buffer->pages[i] != buffer->expected[i]) {
      snprintf(message, room, "wrote outside of %s, %lld bytes %s it", buffer->name,
               (long long)(i < start ? start - i : i - start - buffer->bytes + 1),
               i < start ? "before" : "past the end of");
      return false;
    }
  }
  const uint8_t *expected = buffer->expected + start;
  int64_t at = first_difference(buffer, expected), size = kr_check_element_bytes(buffer->element);
  if (at < 0) return true;
  uint32_t got = bits_at(buffer->data, at, size), want = bits_at(expected, at, size);
  int n = snprintf(message, room, "%s[%lld] is 0x%0*x, scalar 0x%0*x", buffer->name, (long long)at,
                   (int)size * 2, got, (int)size * 2, want);
  if (buffer->element == KR_CHECK_F32 && n > 0 && (size_t)n < room) {
    float a, b;
    memcpy(&a, &got, 4);
    memcpy(&b, &want, 4);
    snprintf(message + n, room - (size_t)n, " (%.9g, scalar %.9g)", (double)a, (double)b);
  }
  return false;
}

static void add_shape(const kr_check_job *job, char *message, size_t room) {
  const kr_check_shape *s = &job->shape;
  size_t n = strlen(message);
  if (n >= room) return;
  snprintf(message + n, room - n,
           "; case %lld: groups %lld, range %lld..%lld, k %lld, n %lld, gap %lld, alias %lld, "
           "values %s, %s",
           (long long)job->index, (long long)s->groups, (long long)s->first, (long long)s->last,
           (long long)s->k, (long long)s->n, (long long)s->gap, (long long)s->alias,
           kr_check_style_name(job->style), kr_check_style_name(job->x_style));
}

static void restore(kr_check_job *job) {
  for (int i = 0; i < job->n_buffers; i++)
    if (job->buffer[i].initial)
      memcpy(job->buffer[i].pages, job->buffer[i].initial, job->buffer[i].page_bytes);
}

static const char *run_and_settle(kr_check_job *job, kr_check_fn *fn) {
  restore(job);
  const char *trouble = kr_check_run(job, fn, 1);
  if (!trouble && job->kernel->kind->settle) job->kernel->kind->settle(job);
  return trouble;
}

bool kr_check_compare(kr_check_job *job, kr_check_fn *reference, kr_check_fn *candidate,
                      char *message, size_t size) {
  const char *trouble = run_and_settle(job, reference);
  if (trouble) {
    snprintf(message, size, "the scalar kernel itself: %s", trouble);
    add_shape(job, message, size);
    return false;
  }
  for (int i = 0; i < job->n_buffers; i++)
    if (job->buffer[i].expected)
      memcpy(job->buffer[i].expected, job->buffer[i].pages, job->buffer[i].page_bytes);
  trouble = run_and_settle(job, candidate);
  bool equal = !trouble;
  if (trouble) snprintf(message, size, "%s", trouble);
  for (int i = 0; equal && i < job->n_buffers; i++)
    if (job->buffer[i].expected) equal = same(&job->buffer[i], message, size);
  if (!equal) add_shape(job, message, size);
  return equal;
}
