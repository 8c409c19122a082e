#include "front_options.h"
#include "front_error.h"
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

gboolean kr_front_usage(GError **error, const char *option, const char *text, const char *wanted) {
  return kr_front_fail(error, KR_EXIT_USAGE, "option %s: '%s' is not %s", option, text, wanted);
}

gboolean kr_front_integer(const char *option, const char *text, gint64 min, gint64 max,
                          gint64 *value, GError **error) {
  if (!text) return TRUE;
  gint64 number;
  const char *digits = *text == '-' ? text + 1 : text;
  /* GLib's function takes white space and signs, which a typing mistake is more likely to be */
  if (g_ascii_isdigit(*digits)) {
    char *end;
    errno = 0;
    number = g_ascii_strtoll(text, &end, 10);
    if (!*end && errno == 0 && number >= min && number <= max) {
      *value = number;
      return TRUE;
    }
  }
  g_autofree char *wanted =
      max == G_MAXINT64 || max == G_MAXINT32
          ? g_strdup_printf("a whole number of at least %" G_GINT64_FORMAT, min)
          : g_strdup_printf("a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, min,
                            max);
  return kr_front_usage(error, option, text, wanted);
}

gboolean kr_front_int32(const char *option, const char *text, gint32 min, gint32 max, gint32 *value,
                        GError **error) {
  gint64 number = *value;
  if (!kr_front_integer(option, text, min, max, &number, error)) return FALSE;
  *value = (gint32)number;
  return TRUE;
}

gboolean kr_front_real(const char *option, const char *text, double min, double max, float *value,
                       GError **error) {
  if (!text) return TRUE;
  char *end;
  double number = g_ascii_strtod(text, &end);
  /* written so that a NaN fails */
  if (*text && !g_ascii_isspace(*text) && !*end && number >= min && number <= max) {
    *value = (float)number;
    return TRUE;
  }
  g_autofree char *wanted = max >= FLT_MAX ? g_strdup_printf("a number of at least %g", min)
                                           : g_strdup_printf("a number from %g to %g", min, max);
  return kr_front_usage(error, option, text, wanted);
}

static gboolean read_backend(GOptionContext *context, GOptionGroup *group, gpointer data,
                             GError **error) {
  (void)context, (void)group;
  const kr_front_backend_options *o = data;
  /* a relative one would be looked for under whatever folder the program was started in */
  if (!o->directory || g_path_is_absolute(o->directory)) return TRUE;
  return kr_front_usage(error, "--backend-dir", o->directory, "an absolute path");
}

GOptionGroup *kr_front_backend_group(kr_front_backend_options *options) {
  const GOptionEntry entries[] = {
      {"isa", 0, 0, G_OPTION_ARG_FILENAME, &options->isa,
       "Use this backend and those below it (default: the best that this CPU runs)", "NAME"},
      {"backend-dir", 0, 0, G_OPTION_ARG_FILENAME, &options->directory,
       "Where backends are looked for, an absolute path", "DIR"},
      {0},
  };
  GOptionGroup *group = g_option_group_new(
      "backend", "Backend options:", "Show options that choose the backend", options, NULL);
  g_option_group_add_entries(group, entries);
  g_option_group_set_parse_hooks(group, NULL, read_backend);
  return group;
}

const char *kr_front_kv_name(int32_t kv) {
  static const char *const names[] = {"f32", "f16", "q8"};
  return kv >= 0 && (gsize)kv < G_N_ELEMENTS(names) ? names[kv] : "?";
}

static gboolean read_engine(GOptionContext *context, GOptionGroup *group, gpointer data,
                            GError **error) {
  (void)context, (void)group;
  kr_front_engine_options *o = data;
  if (!kr_front_int32("-t", o->threads, 1, 1024, &o->engine.threads, error) ||
      !kr_front_int32("--batch", o->batch, 1, 128, &o->engine.batch, error) ||
      !kr_front_int32("--ctx", o->ctx, 1, G_MAXINT32, &o->engine.n_ctx, error))
    return FALSE;
  if (!o->kv) return TRUE;
  for (int32_t kv = KR_KV_F32; kv <= KR_KV_Q8; kv++)
    if (strcmp(o->kv, kr_front_kv_name(kv)) == 0) return o->engine.kv = kv, TRUE;
  return kr_front_usage(error, "--kv", o->kv, "f32, f16 or q8");
}

GOptionGroup *kr_front_engine_group(kr_front_engine_options *options) {
  const GOptionEntry entries[] = {
      {"threads", 't', 0, G_OPTION_ARG_FILENAME, &options->threads,
       "Threads (default: what this machine has free); never changes the output", "N"},
      {"batch", 0, 0, G_OPTION_ARG_FILENAME, &options->batch,
       "Prompt tokens computed together, 1 to 128 (default 128); never changes the output", "N"},
      {"kv", 0, 0, G_OPTION_ARG_FILENAME, &options->kv,
       "Type of the KV cache: f32 (default), f16 or q8", "TYPE"},
      {"ctx", 0, 0, G_OPTION_ARG_FILENAME, &options->ctx,
       "Positions that the context holds (default: the model's, at most 4096)", "N"},
      {"tokenizer", 'z', 0, G_OPTION_ARG_FILENAME, &options->tokenizer,
       "Use this tokenizer: tokenizer.json, .mlt or a llama2.c tokenizer.bin (default: the "
       "model's)",
       "FILE"},
      {0},
  };
  memset(&options->engine, 0, sizeof options->engine);
  GOptionGroup *group = g_option_group_new(
      "engine", "Engine options:", "Show options of threads and memory", options, NULL);
  g_option_group_add_entries(group, entries);
  g_option_group_set_parse_hooks(group, NULL, read_engine);
  return group;
}

static gboolean read_sampling(GOptionContext *context, GOptionGroup *group, gpointer data,
                              GError **error) {
  (void)context, (void)group;
  kr_front_sampling_options *o = data;
  kr_sampler_options *s = &o->sampler;
  gint64 seed = g_random_int();
  if (!kr_front_real("-T", o->temperature, 0, FLT_MAX, &s->temperature, error) ||
      !kr_front_real("-p", o->top_p, 0, 1, &s->top_p, error) ||
      !kr_front_real("--min-p", o->min_p, 0, 1, &s->min_p, error) ||
      !kr_front_real("--repeat-penalty", o->repeat_penalty, 1e-3, 1e3, &s->repeat_penalty, error) ||
      !kr_front_int32("--top-k", o->top_k, 0, G_MAXINT32, &s->top_k, error) ||
      !kr_front_int32("--repeat-last-n", o->repeat_last_n, 0, 1 << 24, &s->repeat_last_n, error) ||
      !kr_front_integer("-s", o->seed, 0, G_MAXINT64, &seed, error))
    return FALSE;
  s->seed = (guint64)seed;
  return TRUE;
}

GOptionGroup *kr_front_sampling_group(kr_front_sampling_options *options) {
  const GOptionEntry entries[] = {
      {"temperature", 'T', 0, G_OPTION_ARG_FILENAME, &options->temperature,
       "Temperature; 0 (default) takes the most likely token", "F"},
      {"top-p", 'p', 0, G_OPTION_ARG_FILENAME, &options->top_p,
       "Draw from the most likely tokens that make up this share (default 0.9; 0 or 1: all)", "F"},
      {"top-k", 0, 0, G_OPTION_ARG_FILENAME, &options->top_k,
       "Draw from the N most likely tokens (default 0: all)", "N"},
      {"min-p", 0, 0, G_OPTION_ARG_FILENAME, &options->min_p,
       "Drop tokens less likely than this share of the best one (default 0)", "F"},
      {"repeat-penalty", 0, 0, G_OPTION_ARG_FILENAME, &options->repeat_penalty,
       "Make recent tokens less likely; 1 (default) is off, 1.1 to 1.3 typical", "F"},
      {"repeat-last-n", 0, 0, G_OPTION_ARG_FILENAME, &options->repeat_last_n,
       "Tokens that the penalty looks back at (default 64)", "N"},
      {"seed", 's', 0, G_OPTION_ARG_FILENAME, &options->seed,
       "Seed of the draws (default: random, and reported)", "N"},
      {0},
  };
  kr_sampler_options_init(&options->sampler);
  options->sampler.top_p = 0.9f;
  options->sampler.repeat_last_n = 64;
  GOptionGroup *group = g_option_group_new(
      "sampling", "Sampling options:", "Show options that choose tokens", options, NULL);
  g_option_group_add_entries(group, entries);
  g_option_group_set_parse_hooks(group, NULL, read_sampling);
  return group;
}

static gboolean show_version(const char *name, const char *value, gpointer data, GError **error) {
  (void)name, (void)value, (void)data, (void)error;
  printf("%s %s\n", g_get_prgname(), kr_version());
  exit(0);
}

const GOptionEntry kr_front_version_entries[] = {
    {"version", 0, G_OPTION_FLAG_NO_ARG, G_OPTION_ARG_CALLBACK, (gpointer)show_version,
     "Show the version", NULL},
    {0},
};
