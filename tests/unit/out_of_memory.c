/* Every allocation fails once: each failure is an error with a message, nothing leaks, and what was
 * there before works on. The linker puts the functions below in front of libc's (--wrap). */
#include "base/error.h"
#include "test_model.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static bool counting;
static long calls, fail_at; /* the call that fails; from then on none does */
static long blocks;         /* held by the core */
static long long mapped;    /* bytes, mapped less unmapped */

int __real_posix_memalign(void **, size_t, size_t);
int __wrap_posix_memalign(void **, size_t, size_t);
void *__real_realloc(void *, size_t);
void *__wrap_realloc(void *, size_t);
void __real_free(void *);
void __wrap_free(void *);
void *__real_mmap(void *, size_t, int, int, int, off_t);
void *__wrap_mmap(void *, size_t, int, int, int, off_t);
void *__real_mmap64(void *, size_t, int, int, int, off_t);
void *__wrap_mmap64(void *, size_t, int, int, int, off_t);
int __real_munmap(void *, size_t);
int __wrap_munmap(void *, size_t);
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static bool fails(void) {
  return counting && calls++ == fail_at;
}

int __wrap_posix_memalign(void **ret, size_t alignment, size_t size) {
  if (fails()) return ENOMEM;
  int code = __real_posix_memalign(ret, alignment, size);
  blocks += !code;
  return code;
}

void *__wrap_realloc(void *block, size_t size) {
  if (fails()) return NULL;
  void *grown = __real_realloc(block, size);
  blocks += grown && !block;
  return grown;
}

void __wrap_free(void *block) {
  blocks -= block != NULL;
  __real_free(block);
}

static size_t whole_pages(size_t n) {
  return (n + 4095) / 4096 * 4096;
}

static void *map_failed(void) {
  errno = ENOMEM;
  return MAP_FAILED;
}

static void *map_counted(void *pages, size_t n) {
  if (pages != MAP_FAILED) mapped += (long long)whole_pages(n);
  return pages;
}

void *__wrap_mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
  if (fails()) return map_failed();
  return map_counted(__real_mmap(at, n, protection, flags, fd, offset), n);
}

/* What glibc's header makes of mmap where files may be large: on 32-bit machines another function,
 * whose offset is wider. */
void *__wrap_mmap64(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
#if defined(__GLIBC__)
  if (fails()) return map_failed();
  return map_counted(__real_mmap64(at, n, protection, flags, fd, offset), n);
#else
  return __wrap_mmap(at, n, protection, flags, fd, offset);
#endif
}

int __wrap_munmap(void *pages, size_t n) {
  mapped -= (long long)whole_pages(n);
  return __real_munmap(pages, n);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *),
                          void *data) {
  return fails() ? EAGAIN : __real_pthread_create(thread, attr, run, data);
}

/* Does its work, sets *ret_done only then; what it made is freed before it returns. */
typedef int scenario_fn(kr_error *err);

/* Runs it with the first call failing, then the second, until none fails. */
static void try_all(scenario_fn *scenario) {
  for (fail_at = 0;; fail_at++) {
    kr_error err = {0};
    long blocks_before = blocks;
    long long mapped_before = mapped;
    calls = 0, counting = true;
    int code = scenario(&err);
    counting = false;
    g_assert_cmpint(blocks, ==, blocks_before);
    g_assert_cmpint(mapped, ==, mapped_before);
    if (calls <= fail_at) {
      g_assert_cmpint(code, ==, KR_OK);
      g_test_message("%ld allocations", fail_at);
      g_assert_cmpint(fail_at, >, 0);
      return;
    }
    if (code != KR_E_MEMORY && code != KR_E_IO)
      g_error("allocation %ld: code %d, '%s'", fail_at, code, err.message);
    g_assert_cmpint(err.code, ==, code);
    g_assert_true(strstr(err.message, "memory") || strstr(err.message, g_strerror(EAGAIN)));
  }
}

static kr_model *model;
static kr_backends *backends;
static const char *path;

static int open_backends(kr_error *err) {
  kr_backends *all;
  int code = kr_backends_new(NULL, &all, err);
  if (!code) kr_backends_free(all);
  return code;
}

static int open_model(kr_error *err) {
  kr_model_options o = {.threads = 3};
  kr_model *m;
  int code = kr_model_open(path, &o, &m, err);
  if (!code) kr_model_free(m);
  return code;
}

static int make_engine(kr_error *err) {
  kr_engine_options o = {.threads = 4};
  kr_engine *e;
  int code = kr_engine_new(model, backends, &o, &e, err);
  if (!code) kr_engine_free(e);
  return code;
}

static int make_sampler(kr_error *err) {
  kr_sampler_options o;
  kr_sampler_options_init(&o);
  kr_sampler *s;
  int code = kr_sampler_new(&o, 500, &s, err);
  if (!code) kr_sampler_free(s);
  return code;
}

static int encode(kr_error *err) {
  static const char text[] = "The capital of <|im_end|> France is\n\n  \xc3\xa9\xff and more";
  int32_t *ids;
  size_t n;
  int code = kr_vocab_encode(kr_model_vocab(model), text, sizeof text - 1, KR_ENCODE_SPECIAL, &ids,
                             &n, err);
  if (!code) kr_ids_free(ids);
  return code;
}

/* ---- sessions: after a failure they are as before, and give the same bits ----------------------
 */

enum { N = 300, VOCAB = 300 };

static int32_t *tokens;
static float truth[VOCAB];

/* With the engine's failures counted: appends, forks and goes on across a page bound. */
static int converse_in(kr_engine *e, kr_error *err) {
  kr_session *s = NULL, *twin = NULL;
  float got[VOCAB];
  int code = kr_session_new(e, &s, err);
  if (!code) {
    code = kr_session_append(s, tokens, 250, NULL, NULL, NULL, err);
    g_assert_cmpint(kr_session_length(s), ==, code ? 0 : 250);
  }
  if (!code) code = kr_session_fork(s, 240, &twin, err);
  if (!code) {
    code = kr_session_append(twin, tokens + 240, N - 240, NULL, NULL, got, err);
    g_assert_cmpint(kr_session_length(twin), ==, code ? 240 : N);
    bool was = counting;
    counting = false;
    if (code) kr_test_append(twin, tokens + 240, N - 240, got);
    kr_test_append(s, tokens + 250, 10, NULL); /* the original is whole too */
    counting = was;
    g_assert_cmpmem(got, sizeof got, truth, sizeof truth);
  }
  kr_session_free(twin);
  kr_session_free(s);
  return code;
}

static int converse(kr_error *err) {
  counting = false;
  kr_engine *e = kr_test_engine(model, backends, 2, 64, KR_KV_F16);
  counting = true;
  int code = converse_in(e, err);
  kr_engine_free(e);
  return code;
}

static void run(gconstpointer scenario) {
  try_all((scenario_fn *)(uintptr_t)scenario);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  path = kr_test_model_path("--type Q5_0 --vocab 300 --bias --rope-factors");
  model = kr_test_model("--type Q5_0 --vocab 300 --bias --rope-factors");
  backends = kr_test_backends(NULL);
  tokens = kr_test_tokens(N, VOCAB, 4);
  kr_engine *e = kr_test_engine(model, backends, 1, 300, KR_KV_F16);
  kr_session *s = kr_test_session(e);
  kr_test_append(s, tokens, N, truth);
  kr_session_free(s);
  kr_engine_free(e);
#define ADD(scenario)                                                                              \
  g_test_add_data_func("/out-of-memory/" #scenario, (gconstpointer)(uintptr_t)scenario, run)
  ADD(open_backends);
  ADD(open_model);
  ADD(make_engine);
  ADD(make_sampler);
  ADD(encode);
  ADD(converse);
#undef ADD
  int code = g_test_run();
  g_free(tokens);
  kr_backends_free(backends);
  kr_model_free(model);
  return kr_test_clean(code);
}
