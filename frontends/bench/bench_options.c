#include "bench_options.h"
#include "front_error.h"
#include "front_parse.h"
#include <string.h>

static kr_bench_options options;

/* Values as they were given. */
static struct {
  char **rest;
  char *tokens, *prompts, *threads, *depths, *isas, *directory, *kv, *batch, *repetitions;
} given;

enum { MAX_TOKENS = 1 << 20 };

static const GOptionEntry entries[] = {
    {"tokens", 'n', 0, G_OPTION_ARG_FILENAME, &given.tokens,
     "Tokens that a decode computes, one at a time (default 128; 0: no decode)", "N"},
    {"prompt", 'p', 0, G_OPTION_ARG_FILENAME, &given.prompts,
     "Lengths of prompts (default 128,512; 0: no prompt)", "LIST"},
    {"depth", 0, 0, G_OPTION_ARG_FILENAME, &given.depths,
     "Positions before a decode (default: the first length of -p)", "LIST"},
    {"threads", 't', 0, G_OPTION_ARG_FILENAME, &given.threads,
     "Numbers of threads (default: what this machine has free)", "LIST"},
    {"isa", 0, 0, G_OPTION_ARG_FILENAME, &given.isas,
     "Backends, each with those below it (default: the best that this CPU runs)", "LIST"},
    {"backend-dir", 0, 0, G_OPTION_ARG_FILENAME, &given.directory,
     "Where backends are looked for, an absolute path", "DIR"},
    {"kv", 0, 0, G_OPTION_ARG_FILENAME, &given.kv, "Type of the KV cache: f32 (default), f16 or q8",
     "TYPE"},
    {"batch", 0, 0, G_OPTION_ARG_FILENAME, &given.batch,
     "Prompt tokens computed together, 1 to 128 (default 128)", "N"},
    {"repetitions", 'r', 0, G_OPTION_ARG_FILENAME, &given.repetitions,
     "Timed repetitions of each test, after one that is not (default 5)", "N"},
    {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.rest, NULL, NULL},
    {0},
};

static GOptionContext *new_context(void) {
  GOptionContext *context = g_option_context_new("MODEL");
  g_option_context_set_summary(
      context, "Measures how fast a model computes prompts and decodes tokens, how much of the\n"
               "memory's read bandwidth a decode uses, and checks that every backend, number of\n"
               "threads and repetition gives the same logits. LIST is numbers or names: 1,2,4.");
  g_option_context_set_description(
      context, "Exit codes: 0 success, 1 load or runtime error or logits that differ, 2 usage,\n"
               "3 the CPU lacks a feature that was asked for, 130 ended by Ctrl-C.\n");
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_main_entries(context, kr_front_version_entries, NULL);
  return context;
}

/* An array of int32_t; NULL on error. */
static GArray *read_list(const char *option, const char *text, gint32 min, gint32 max,
                         GError **error) {
  GArray *list = g_array_new(FALSE, FALSE, sizeof(int32_t));
  g_auto(GStrv) parts = g_strsplit(text, ",", -1);
  gboolean ok = TRUE;
  for (char **part = parts; ok && *part; part++) {
    int32_t number = 0;
    ok = kr_front_int32(option, *part, min, max, &number, error);
    g_array_append_val(list, number);
  }
  if (ok && list->len > 0) return list;
  if (ok) kr_front_usage(error, option, text, "a list of whole numbers");
  g_array_free(list, TRUE);
  return NULL;
}

static gboolean read_lists(GError **error) {
  const char *prompts = given.prompts ? given.prompts : "128,512";
  g_autofree char *threads = g_strdup_printf("%d", kr_default_threads());
  options.prompts = read_list("-p", prompts, 0, MAX_TOKENS, error);
  if (!options.prompts) return FALSE;
  options.threads = read_list("-t", given.threads ? given.threads : threads, 1, 1024, error);
  if (!options.threads) return FALSE;
  g_autofree char *depth = g_strdup_printf("%d", g_array_index(options.prompts, int32_t, 0));
  options.depths = read_list("--depth", given.depths ? given.depths : depth, 0, MAX_TOKENS, error);
  if (!options.depths) return FALSE;
  if (!given.isas) return TRUE;
  options.isas = g_strsplit(given.isas, ",", -1);
  for (char **isa = options.isas; *isa; isa++)
    if (!**isa) return kr_front_usage(error, "--isa", given.isas, "a list of names");
  return options.isas[0] || kr_front_usage(error, "--isa", given.isas, "a list of names");
}

static gboolean read_kv(GError **error) {
  if (!given.kv) return TRUE;
  for (int32_t kv = KR_KV_F32; kv <= KR_KV_Q8; kv++)
    if (strcmp(given.kv, kr_front_kv_name(kv)) == 0) return options.engine.kv = kv, TRUE;
  return kr_front_usage(error, "--kv", given.kv, "f32, f16 or q8");
}

/* The context is as long as the longest test. */
static gboolean read_context(GError **error) {
  int32_t longest = 0, prompts = 0;
  for (guint i = 0; i < options.prompts->len; i++) {
    int32_t length = g_array_index(options.prompts, int32_t, i);
    longest = MAX(longest, length);
    prompts += length > 0;
  }
  for (guint i = 0; i < options.depths->len && options.tokens > 0; i++)
    longest = MAX(longest, g_array_index(options.depths, int32_t, i) + options.tokens);
  options.engine.n_ctx = longest;
  if (prompts > 0 || options.tokens > 0) return TRUE;
  return kr_front_fail(error, KR_EXIT_USAGE, "nothing to measure: both -n and -p are 0");
}

gboolean kr_bench_options_parse(int argc, char **argv, const kr_bench_options **ret_options,
                                GError **error) {
  options.tokens = 128;
  options.repetitions = 5;
  GOptionContext *context = new_context();
  gboolean ok = kr_front_parse(context, &argc, &argv, error) &&
                kr_front_int32("-n", given.tokens, 0, MAX_TOKENS, &options.tokens, error) &&
                kr_front_int32("-r", given.repetitions, 1, 10000, &options.repetitions, error) &&
                kr_front_int32("--batch", given.batch, 1, 128, &options.engine.batch, error) &&
                read_kv(error) && read_lists(error) && read_context(error);
  g_option_context_free(context);
  if (!ok) return FALSE;
  if (!given.rest || g_strv_length(given.rest) != 1)
    return kr_front_fail(error, KR_EXIT_USAGE, "give one model; %s --help shows the options",
                         g_get_prgname());
  options.model = given.rest[0];
  options.directory = given.directory;
  *ret_options = &options;
  return TRUE;
}
