/* A plug-in with whatever is wrong or unusual about it, by macros; see meson.build beside it. */
#include <krafla/backend.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef MAGIC
#define MAGIC KR_BACKEND_MAGIC
#endif
#ifndef MAJOR
#define MAJOR KR_BACKEND_ABI_MAJOR
#endif
#ifndef MINOR
#define MINOR KR_BACKEND_ABI_MINOR
#endif
#ifndef NUMERICS
#define NUMERICS KR_NUMERICS
#endif
#ifndef RANK
#define RANK 1000
#endif
#ifndef FEATURES
#define FEATURES ""
#endif
#ifndef PROVENANCE
#define PROVENANCE "1.0, MIT, tests"
#endif
#ifndef SIZE
#define SIZE sizeof(descriptor)
#endif
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(table)
#endif
#ifndef TABLE
#define TABLE &kernels.known
#endif

/* What a later minor version may append. */
typedef struct table {
  kr_kernels known;
#if MINOR > KR_BACKEND_ABI_MINOR
  void (*later[3])(void);
#endif
} table;

typedef struct descriptor {
  kr_backend known;
#if MINOR > KR_BACKEND_ABI_MINOR
  const char *later;
#endif
} descriptor;

#ifdef CONSTRUCTOR /* leaves a mark when the file is loaded */
__attribute__((constructor)) static void leave_mark(void) {
  const char *path = getenv("KRAFLA_TEST_MARK");
  FILE *f = path ? fopen(path, "a") : NULL;
  if (f) fputs("loaded\n", f), fclose(f);
}
#endif

#ifdef MISSING_SYMBOL /* which no library has */
void krafla_test_no_such_function(void);
#endif

#if !defined(EMPTY)
/* Told from every other by its result. */
static void add(float *x, const float *y, int64_t n) {
#ifdef MISSING_SYMBOL
  krafla_test_no_such_function();
#endif
  for (int64_t i = 0; i < n; i++) x[i] = x[i] + y[i] + RANK;
}

#if !defined(ONLY_ADD)
static void to_f16(const float *x, int64_t n, uint16_t *y) {
  (void)x;
  for (int64_t i = 0; i < n; i++) y[i] = RANK;
}
#endif
#endif

#if !defined(NO_TABLE)
static const table kernels = {.known = {
                                  .struct_size = TABLE_SIZE,
#if !defined(EMPTY)
                                  .add = add,
#if !defined(ONLY_ADD)
                                  .to_f16 = to_f16,
#endif
#endif
                              }};
#endif

#if !defined(NO_SYMBOL)
KR_BACKEND_EXPORT const descriptor krafla_backend = {.known = {.magic = MAGIC,
                                                               .struct_size = SIZE,
                                                               .abi_major = MAJOR,
                                                               .abi_minor = MINOR,
                                                               .numerics = NUMERICS,
                                                               .rank = RANK,
                                                               .name = NAME,
                                                               .features = FEATURES,
                                                               .provenance = PROVENANCE,
                                                               .kernels = TABLE}};
#else
KR_BACKEND_EXPORT const kr_kernels not_krafla_backend = {.add = add, .to_f16 = to_f16};
#endif
