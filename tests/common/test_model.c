#include "test_model.h"
#include <glib/gstdio.h>
#include <string.h>

static char *folder;
static GHashTable *paths; /* options: path */

char *kr_test_path(const char *name) {
  if (!folder) folder = g_dir_make_tmp("krafla-test-XXXXXX", NULL);
  return g_build_filename(folder, name, NULL);
}

static void make(const char *options, const char *path) {
  const char *program = g_getenv("KRAFLA_MAKE_MODEL");
  if (!program) g_error("KRAFLA_MAKE_MODEL is not set");
  g_autofree char *command = g_strdup_printf("%s %s %s", program, options, path);
  g_autofree char *output = NULL;
  g_auto(GStrv) argv = g_strsplit(command, " ", -1);
  g_autoptr(GError) error = NULL;
  int status = 0;
  g_spawn_sync(NULL, argv, NULL, 0, NULL, NULL, NULL, &output, &status, &error);
  g_assert_no_error(error);
  if (!g_spawn_check_wait_status(status, NULL)) g_error("%s: %s", command, output);
}

const char *kr_test_model_path(const char *options) {
  if (!paths) paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  char *path = g_hash_table_lookup(paths, options);
  if (path) return path;
  g_autofree char *name = g_strdup_printf("model-%u.gguf", g_hash_table_size(paths));
  path = kr_test_path(name);
  make(options, path);
  g_hash_table_insert(paths, g_strdup(options), path);
  return path;
}

kr_model *kr_test_model(const char *options) {
  kr_model *model;
  kr_error err;
  if (kr_model_open(kr_test_model_path(options), NULL, &model, &err)) g_error("%s", err.message);
  return model;
}

int kr_test_clean(int code) {
  if (paths) g_hash_table_unref(paths);
  GDir *dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_remove(path);
  }
  if (dir) g_dir_close(dir);
  if (folder) g_rmdir(folder);
  g_free(folder);
  return code;
}

kr_backends *kr_test_backends(const char *isa) {
  kr_backends *backends;
  kr_error err;
  int code = kr_backends_new(&(kr_backends_options){.isa = isa}, &backends, &err);
  if (code == KR_E_CPU) return NULL;
  if (code) g_error("%s", err.message);
  return backends;
}

char **kr_test_isas(void) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  kr_backends *all = kr_test_backends(NULL);
  for (size_t i = 0; i < kr_backends_count(all); i++)
    if (kr_backends_get(all, i)->state != KR_BACKEND_SKIPPED)
      g_ptr_array_add(names, g_strdup(kr_backends_get(all, i)->name));
  kr_backends_free(all);
  g_ptr_array_add(names, NULL);
  return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

kr_engine *kr_test_engine(const kr_model *model, const kr_backends *backends, int threads,
                          int batch, int kv) {
  kr_engine_options options = {.threads = threads, .batch = batch, .kv = kv};
  kr_engine *engine;
  kr_error err;
  if (kr_engine_new(model, backends, &options, &engine, &err)) g_error("%s", err.message);
  return engine;
}

kr_session *kr_test_session(kr_engine *engine) {
  kr_session *session;
  kr_error err;
  if (kr_session_new(engine, &session, &err)) g_error("%s", err.message);
  return session;
}

int32_t *kr_test_tokens(int n, int n_vocab, unsigned seed) {
  int32_t *tokens = g_new(int32_t, n);
  uint32_t state = seed * 2654435761u + 1;
  for (int i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u; /* Numerical Recipes */
    tokens[i] = (int32_t)((state >> 8) % (uint32_t)n_vocab);
  }
  return tokens;
}

void kr_test_append(kr_session *session, const int32_t *tokens, int n, float *logits) {
  kr_error err;
  if (kr_session_append(session, tokens, (size_t)n, NULL, NULL, logits, &err))
    g_error("%s", err.message);
}
