/* The same bits everywhere: SHA-256 of all logits of small models, committed in fingerprints.txt,
 * for every backend that runs here, several numbers of threads and sizes of batches; where
 * KRAFLA_TEST_SHORT is set, which emulators are for, with one of each.
 *
 * fingerprints TABLE TYPE [TAP options]      tests the lines of one weight type
 * fingerprints TABLE TYPE --print            prints them as they are here
 *
 * A run is PROMPT tokens, then GREEDY more, each the most likely one; every position's logits
 * count, as little-endian words. (krafla-run --tokens ... -T 0 --ignore-eos --fingerprint gives the
 * same sum.) */
#include "formats/source.h"
#include "test_model.h"
#include <string.h>

enum { PROMPT = 300, GREEDY = 8 };

static const char *const kv_names[] = {"f32", "f16", "q8"};

static GHashTable *table; /* of the type: "f32" -> sum, "options", "weights" */
static const char *type;
static kr_model *model;
static int n_vocab;
static int32_t *prompt;

/* Lines: TYPE NAME VALUE... */
static void read_table(const char *path) {
  g_autofree char *text = NULL;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(path, &text, NULL, &error);
  g_assert_no_error(error);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  for (int i = 0; lines[i]; i++) {
    g_auto(GStrv) words = g_strsplit(lines[i], " ", 3);
    if (words[0] && !strcmp(words[0], type) && words[1] && words[2])
      g_hash_table_insert(table, g_strdup(words[1]), g_strdup(words[2]));
  }
  if (!g_hash_table_contains(table, "options")) g_error("%s has no line '%s options'", path, type);
}

static void add_row(GChecksum *sum, const float *row) {
  for (int i = 0; i < n_vocab; i++) {
    uint32_t word;
    memcpy(&word, &row[i], sizeof word);
    word = GUINT32_TO_LE(word);
    g_checksum_update(sum, (const guchar *)&word, sizeof word);
  }
}

static int32_t argmax(const float *x) {
  int32_t best = 0;
  for (int32_t i = 1; i < n_vocab; i++)
    if (x[i] > x[best]) best = i;
  return best;
}

/* The sum of a run. The caller frees it. */
static char *run(const kr_backends *backends, int kv, int threads, int batch) {
  kr_engine *e = kr_test_engine(model, backends, threads, batch, kv);
  kr_session *s = kr_test_session(e);
  GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_autofree float *logits = g_new(float, (gsize)PROMPT *(gsize)n_vocab);
  kr_row rows[PROMPT];
  kr_error err;
  for (int i = 0; i < PROMPT; i++) rows[i] = (kr_row){s, prompt[i], 1};
  if (kr_engine_step(e, rows, PROMPT, logits, &err)) g_error("%s", err.message);
  for (int i = 0; i < PROMPT; i++) add_row(sum, logits + i * n_vocab);
  memmove(logits, logits + (PROMPT - 1) * n_vocab, (gsize)n_vocab * sizeof *logits);
  for (int i = 0; i < GREEDY; i++) {
    int32_t token = argmax(logits);
    kr_test_append(s, &token, 1, logits);
    add_row(sum, logits);
  }
  char *hex = g_strdup(g_checksum_get_string(sum));
  g_checksum_free(sum);
  kr_session_free(s);
  kr_engine_free(e);
  return hex;
}

/* Of the tensors' names, types and bytes; the rest of the file may change. */
static char *weights_sum(void) {
  const char *path = kr_test_model_path(g_hash_table_lookup(table, "options"));
  GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
  kr_source *source;
  kr_error err;
  if (kr_source_open(path, &source, &err)) g_error("%s", err.message);
  for (size_t i = 0; i < kr_source_n_tensors(source); i++) {
    const kr_tensor *t = kr_source_tensor_at(source, i);
    g_checksum_update(sum, (const guchar *)t->name.data, (gssize)t->name.n);
    g_checksum_update(sum, (const guchar *)kr_type_get(t->type)->name, -1);
    g_checksum_update(sum, t->data, (gssize)t->bytes);
  }
  kr_source_close(source);
  char *hex = g_strdup(g_checksum_get_string(sum));
  g_checksum_free(sum);
  return hex;
}

/* First, so that another model is not taken for another result. */
static void test_weights(void) {
  g_autofree char *sum = weights_sum();
  g_assert_cmpstr(sum, ==, g_hash_table_lookup(table, "weights"));
}

typedef struct place {
  char *isa;
  int kv;
} place;

static void test_runs(gconstpointer data) {
  static const int shapes[][2] = {{1, 128}, {2, 7}, {5, 1}}; /* threads, batch */
  const place *p = data;
  kr_backends *backends = kr_test_backends(p->isa);
  gboolean all = !g_getenv("KRAFLA_TEST_SHORT");
  size_t first = all ? 0 : (size_t)p->kv % 2, last = all ? G_N_ELEMENTS(shapes) : first + 1;
  for (size_t i = first; i < last; i++) {
    g_autofree char *sum = run(backends, p->kv, shapes[i][0], shapes[i][1]);
    g_test_message("%s, kv %s, threads %d, batch %d: %s", p->isa, kv_names[p->kv], shapes[i][0],
                   shapes[i][1], sum);
    g_assert_cmpstr(sum, ==, g_hash_table_lookup(table, kv_names[p->kv]));
  }
  kr_backends_free(backends);
}

static void print_lines(void) {
  kr_backends *backends = kr_test_backends("scalar");
  g_autofree char *weights = weights_sum();
  g_print("%s options %s\n%s weights %s\n", type, (char *)g_hash_table_lookup(table, "options"),
          type, weights);
  for (int kv = 0; kv < 3; kv++) {
    g_autofree char *sum = run(backends, kv, 1, 128);
    g_print("%s %s %s\n", type, kv_names[kv], sum);
  }
  kr_backends_free(backends);
}

static void add_tests(void) {
  g_test_add_func("/fingerprints/weights", test_weights);
  g_auto(GStrv) isas = kr_test_isas();
  for (int i = 0; isas[i]; i++)
    for (int kv = 0; kv < 3; kv++) {
      place *p = g_new(place, 1);
      *p = (place){g_strdup(isas[i]), kv};
      g_autofree char *name = g_strdup_printf("/fingerprints/%s/%s", isas[i], kv_names[kv]);
      g_test_add_data_func(name, p, test_runs); /* lives to the end */
    }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (argc < 3) g_error("usage: fingerprints TABLE TYPE");
  type = argv[2];
  read_table(argv[1]);
  model = kr_test_model(g_hash_table_lookup(table, "options"));
  n_vocab = kr_model_get_info(model)->n_vocab;
  prompt = kr_test_tokens(PROMPT, n_vocab, 1);
  int code = 0;
  if (argc > 3 && !strcmp(argv[3], "--print")) {
    print_lines();
  } else {
    add_tests();
    code = g_test_run();
  }
  g_free(prompt);
  kr_model_free(model);
  g_hash_table_unref(table);
  return kr_test_clean(code);
}
