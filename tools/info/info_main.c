/* krafla-info: what this machine can use, and what a model file holds. */
#include "front_error.h"
#include "front_open.h"
#include "front_parse.h"
#include "front_signals.h"
#include "info_json.h"
#include <stdio.h>
#include <string.h>

static struct {
  kr_front_backend_options backend;
  gboolean backends, cpu, json;
  char **rest;
} options;

static const GOptionEntry entries[] = {
    {"backends", 0, 0, G_OPTION_ARG_NONE, &options.backends,
     "Show which backends were found, used or skipped and why, and who gives each kernel", NULL},
    {"cpu", 0, 0, G_OPTION_ARG_NONE, &options.cpu, "Show the features of this CPU", NULL},
    {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.rest, NULL, NULL},
    {0},
};

static gboolean parse(int argc, char **argv, GError **error) {
  GOptionContext *context = g_option_context_new("[MODEL]");
  g_option_context_set_summary(context, "Tells about this machine, or about a model file.");
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_main_entries(context, kr_front_version_entries, NULL);
  g_option_context_add_group(context, kr_front_backend_group(&options.backend));
  gboolean ok = kr_front_parse(context, &argc, &argv, error);
  g_option_context_free(context);
  if (!ok) return FALSE;
  guint models = options.rest ? g_strv_length(options.rest) : 0;
  if (models > 1 || (models == 0 && !options.backends && !options.cpu))
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "give a model, --backends or --cpu; krafla-info --help shows more");
  return TRUE;
}

/* A name or reason may come from a plug-in's file. */
static void print_printable(const char *format, const char *text) {
  g_autofree char *printable = kr_front_printable(text, -1);
  printf(format, printable);
}

static const char *state_name(int32_t state) {
  static const char *const names[] = {"used", "not used", "skipped"};
  return state >= 0 && (gsize)state < G_N_ELEMENTS(names) ? names[state] : "?";
}

static void json_backends(kr_info_json *json, const kr_backends *backends) {
  kr_info_string(json, "isa", kr_backends_isa(backends));
  kr_info_open(json, "backends", '[');
  for (gsize i = 0; i < kr_backends_count(backends); i++) {
    const kr_backend_info *info = kr_backends_get(backends, i);
    kr_info_open(json, NULL, '{');
    kr_info_string(json, "name", info->name);
    kr_info_string(json, "state", state_name(info->state));
    kr_info_integer(json, "rank", info->rank);
    kr_info_words(json, "features", info->features);
    kr_info_string(json, "provenance", info->provenance);
    kr_info_string(json, "path", info->path);
    kr_info_string(json, "reason", info->reason);
    kr_info_close(json, '}');
  }
  kr_info_close(json, ']');
  kr_info_open(json, "kernels", '{');
  for (gsize i = 0; i < kr_kernel_count(); i++)
    kr_info_string(json, kr_kernel_name(i), kr_backends_owner(backends, i));
  kr_info_close(json, '}');
}

static void show_backends(const kr_backends *backends) {
  printf("%-12s %-9s %5s  %-16s %s\n", "backend", "state", "rank", "features", "from");
  for (gsize i = 0; i < kr_backends_count(backends); i++) {
    const kr_backend_info *info = kr_backends_get(backends, i);
    print_printable("%-12s ", info->name);
    printf("%-9s %5d  ", state_name(info->state), info->rank);
    print_printable("%-16s ", *info->features ? info->features : "-");
    print_printable("%s\n", *info->path ? info->path : "built in");
    if (*info->reason) print_printable("             %s\n", info->reason);
  }
  printf("\n%-14s %s\n", "kernel", "from");
  for (gsize i = 0; i < kr_kernel_count(); i++)
    printf("%-14s %s\n", kr_kernel_name(i), kr_backends_owner(backends, i));
}

static void json_model(kr_info_json *json, const kr_model *model) {
  const kr_model_info *info = kr_model_get_info(model);
  const kr_vocab *vocab = kr_model_vocab(model);
  kr_info_open(json, "model", '{');
  kr_info_string(json, "architecture", info->architecture);
  kr_info_string(json, "name", info->name);
  kr_info_words(json, "types", info->types);
  kr_info_integer(json, "parameters", info->parameters);
  kr_info_integer(json, "weight_bytes", info->weight_bytes);
  kr_info_integer(json, "vocab", info->n_vocab);
  kr_info_integer(json, "context", info->n_ctx);
  kr_info_integer(json, "layers", info->n_layers);
  kr_info_integer(json, "dim", info->dim);
  kr_info_integer(json, "heads", info->n_heads);
  kr_info_integer(json, "kv_heads", info->n_kv_heads);
  kr_info_integer(json, "head_dim", info->head_dim);
  kr_info_integer(json, "bos", kr_vocab_bos(vocab));
  kr_info_integer(json, "eos", kr_vocab_eos(vocab));
  kr_info_boolean(json, "chat_template", kr_model_chat_template(model) != NULL);
  kr_info_close(json, '}');
}

static void show_model(const kr_model *model) {
  const kr_model_info *info = kr_model_get_info(model);
  const kr_vocab *vocab = kr_model_vocab(model);
  print_printable("architecture   %s\n", info->architecture);
  print_printable("name           %s\n", *info->name ? info->name : "-");
  printf("parameters     %.1f M\n", (double)info->parameters / 1e6);
  print_printable("weights        %s, ", info->types);
  printf("%.1f MiB packed\n", (double)info->weight_bytes / (1 << 20));
  printf("layers         %d of width %d\n", info->n_layers, info->dim);
  printf("heads          %d of width %d, %d of keys and values\n", info->n_heads, info->head_dim,
         info->n_kv_heads);
  printf("context        %d\n", info->n_ctx);
  printf("vocabulary     %d, BOS %d, EOS %d\n", info->n_vocab, kr_vocab_bos(vocab),
         kr_vocab_eos(vocab));
  printf("chat template  %s\n", kr_model_chat_template(model) ? "yes" : "no");
}

static gboolean show_all(GError **error) {
  static kr_info_json json; /* still reachable when an error ends the program */
  kr_info_init(&json);
  kr_info_open(&json, NULL, '{');
  kr_info_string(&json, "version", kr_version());
  if (options.cpu) {
    if (!options.json) printf("cpu features   %s\n", kr_cpu_features());
    kr_info_words(&json, "cpu", kr_cpu_features());
  }
  if (options.backends) {
    kr_backends *backends;
    if (!kr_front_open_backends(&options.backend, &backends, error)) return FALSE;
    if (!options.json) show_backends(backends);
    json_backends(&json, backends);
    kr_backends_free(backends);
  }
  if (options.rest) {
    kr_model *model;
    kr_front_signals_init(options.rest[0]);
    if (!kr_front_open_model(options.rest[0], 0, &model, error)) return FALSE;
    if (!options.json) show_model(model);
    json_model(&json, model);
    kr_model_free(model);
  }
  kr_info_close(&json, '}');
  if (options.json) kr_info_print(&json);
  return TRUE;
}

int main(int argc, char **argv) {
  GError *error = NULL;
  g_set_prgname("krafla-info");
  return parse(argc, argv, &error) && show_all(&error) ? 0 : kr_front_report(error);
}
