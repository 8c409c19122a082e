#include "front_open.h"
#include "front_error.h"
#include "front_parse.h"
#include "front_signals.h"
#include <string.h>
#include <unistd.h>

/* A bar that shows up only when loading is slow enough for somebody to wonder. */
typedef struct {
  gint64 started, drawn; /* microseconds; drawn 0: not yet */
} progress_bar;

enum { BAR_DELAY = 300000, BAR_STEP = 50000, BAR_WIDTH = 40 };

static void bar_write(const char *text, gsize n) {
  ssize_t done = write(STDERR_FILENO, text, n);
  (void)done;
}

static int bar_progress(void *data, double fraction) {
  progress_bar *bar = data;
  gint64 now = g_get_monotonic_time();
  if (kr_front_interrupted()) return 1;
  if (!kr_front_is_terminal(STDERR_FILENO) || now - bar->started < BAR_DELAY ||
      now - bar->drawn < BAR_STEP)
    return 0;
  bar->drawn = now;
  int full = (int)(CLAMP(fraction, 0.0, 1.0) * BAR_WIDTH);
  char text[BAR_WIDTH + 1];
  for (int i = 0; i < BAR_WIDTH; i++) text[i] = i < full ? '#' : '.';
  text[BAR_WIDTH] = '\0';
  g_autofree char *line = g_strdup_printf("\rloading [%s] %3d%%", text, (int)(fraction * 100));
  bar_write(line, strlen(line));
  return 0;
}

static void bar_clear(const progress_bar *bar) {
  static const char clear[] = "\r\033[K";
  if (bar->drawn) bar_write(clear, sizeof clear - 1);
}

gboolean kr_front_open_backends(const kr_front_backend_options *options, kr_backends **backends,
                                GError **error) {
  kr_backends_options o = {.directory = options->directory, .isa = options->isa};
  kr_error err;
  if (kr_backends_new(&o, backends, &err) == KR_OK) return TRUE;
  return kr_front_fail_library(error, &err, NULL);
}

gboolean kr_front_open_model(const char *path, int32_t threads, kr_model **model, GError **error) {
  progress_bar bar = {.started = g_get_monotonic_time()};
  kr_model_options o = {.threads = threads, .progress = bar_progress, .progress_data = &bar};
  kr_error err;
  int status = kr_model_open(path, &o, model, &err);
  bar_clear(&bar);
  if (status == KR_OK) return TRUE;
  return kr_front_fail_library(error, &err, NULL);
}

/* A tokenizer may have fewer tokens than the model has rows, which are often padded, never more. */
static gboolean open_vocab(const char *path, kr_front *front, GError **error) {
  kr_error err;
  front->vocab = kr_model_vocab(front->model);
  if (!path) return TRUE;
  if (kr_vocab_open(path, &front->own, &err) != KR_OK)
    return kr_front_fail_library(error, &err, NULL);
  int32_t n = kr_vocab_size(front->own), rows = kr_model_get_info(front->model)->n_vocab;
  if (n > rows)
    return kr_front_fail(error, KR_EXIT_FAILED, "%s: has %d tokens, but %s only %d", path, n,
                         front->path, rows);
  front->vocab = front->own;
  return TRUE;
}

gboolean kr_front_open(const char *path, const kr_front_backend_options *backend,
                       const kr_front_engine_options *engine, kr_front *front, GError **error) {
  kr_error err;
  front->path = path;
  /* the backends first: an ISA that this CPU lacks is told before a large file is read */
  if (!kr_front_open_backends(backend, &front->backends, error) ||
      !kr_front_open_model(path, engine->engine.threads, &front->model, error))
    return FALSE;
  int32_t limit = kr_model_get_info(front->model)->n_ctx;
  if (engine->engine.n_ctx > limit)
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "option --ctx: '%d' is more than the %d positions of %s",
                         engine->engine.n_ctx, limit, path);
  if (kr_engine_new(front->model, front->backends, &engine->engine, &front->engine, &err) != KR_OK)
    return kr_front_fail_library(error, &err, path);
  return open_vocab(engine->tokenizer, front, error);
}

void kr_front_close(kr_front *front) {
  kr_engine_free(front->engine);
  kr_vocab_free(front->own);
  kr_model_free(front->model);
  kr_backends_free(front->backends);
  memset(front, 0, sizeof *front);
}
