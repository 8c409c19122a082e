/* krafla-bench: how fast a model runs, and whether every way of running it gives the same logits.
 */
#include "bench_report.h"
#include "front_error.h"
#include "front_open.h"
#include "front_signals.h"
#include <stdio.h>

/* One set of backends for each ISA, all opened before anything is measured, so that a name that is
 * wrong is told at once. */
static gboolean open_backends(const kr_bench_options *o, GPtrArray *sets, GError **error) {
  static char *best[] = {NULL};
  for (char **isa = o->isas ? o->isas : best;; isa++) {
    kr_front_backend_options options = {.isa = *isa, .directory = (char *)o->directory};
    kr_backends *backends;
    if (!kr_front_open_backends(&options, &backends, error)) return FALSE;
    g_ptr_array_add(sets, backends);
    if (!*isa || !isa[1]) return TRUE;
  }
}

static gboolean run_all(kr_bench *bench, const GPtrArray *sets, gint64 started, GError **error) {
  const kr_bench_options *o = bench->options;
  if (!kr_bench_open(bench, g_ptr_array_index(sets, 0), started, error)) return FALSE;
  if (!o->json) kr_bench_show_head(bench);
  for (guint i = 0; i < sets->len; i++) {
    for (guint j = 0; j < o->threads->len; j++) {
      const kr_bench_group *group;
      if (!kr_bench_run(bench, g_ptr_array_index(sets, i), g_array_index(o->threads, int32_t, j),
                        &group, error))
        return FALSE;
      if (!o->json) kr_bench_show_group(group);
    }
  }
  if (o->json) kr_bench_show_json(bench);
  if (bench->differs)
    return kr_front_fail(error, KR_EXIT_FAILED,
                         "%s: the same tokens gave different logits; krafla-check tells which "
                         "backend is wrong",
                         o->model);
  return TRUE;
}

static void free_backends(gpointer backends) {
  kr_backends_free(backends);
}

int main(int argc, char **argv) {
  gint64 started = g_get_monotonic_time();
  const kr_bench_options *options;
  kr_bench bench = {0};
  GError *error = NULL;
  g_set_prgname("krafla-bench");
  if (!kr_bench_options_parse(argc, argv, &options, &error)) return kr_front_report(error);
  bench.options = options;
  kr_front_signals_init(options->model);
  GPtrArray *sets = g_ptr_array_new_with_free_func(free_backends);
  gboolean ok = open_backends(options, sets, &error) && run_all(&bench, sets, started, &error);
  kr_bench_clear(&bench);
  g_ptr_array_free(sets, TRUE);
  if (ok && (fflush(stdout) != 0 || ferror(stdout)))
    ok = kr_front_fail(&error, KR_EXIT_FAILED, "standard output: could not be written");
  return ok ? 0 : kr_front_report(error);
}
