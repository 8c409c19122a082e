#include "bench_report.h"
#include "front_error.h"
#include <stdio.h>

static double mib(gint64 bytes) {
  return (double)bytes / (1 << 20);
}

/* The read bandwidth that a group had, as its share is taken: between that before and after. */
static double group_bandwidth(const kr_bench_group *group) {
  return (group->before + group->after) / 2;
}

void kr_bench_show_head(const kr_bench *bench) {
  const kr_bench_options *o = bench->options;
  const kr_model_info *info = kr_model_get_info(bench->model);
  g_autofree char *name = g_path_get_basename(o->model);
  g_autofree char *printable = kr_front_printable(name, -1);
  g_autofree char *types = kr_front_printable(info->types, -1);
  printf("%s: %.1f M parameters, %s, %.1f MB of weights read per token\n", printable,
         (double)info->parameters / 1e6, types, (double)info->weight_bytes / 1e6);
  printf("KV cache %s, batch %d, 1 + %d repetitions\n", kr_front_kv_name(o->engine.kv),
         o->engine.batch ? o->engine.batch : 128, o->repetitions);
  printf("model loaded in %.3f s, first token after %.3f s with %.0f MiB in memory\n\n",
         bench->load, bench->first, mib(bench->peak));
  printf("%-12s %7s  %-22s %10s %10s %10s %7s %8s %8s %8s  %s\n", "isa", "threads", "test", "tok/s",
         "least", "most", "GB/s", "of read", "MiB", "KV MiB", "logits");
  fflush(stdout);
}

static void show_result(const kr_bench_group *group, const kr_bench_result *result) {
  double used = result->read_bytes * result->median, read = group_bandwidth(group);
  char test[64], speed[32] = "-", share[32] = "-";
  if (result->decode) {
    g_snprintf(test, sizeof test, "decode %d at %d", result->tokens, result->depth);
    g_snprintf(speed, sizeof speed, "%.2f", used / 1e9);
    if (read > 0) g_snprintf(share, sizeof share, "%.0f %%", 100 * used / read);
  } else {
    g_snprintf(test, sizeof test, "prompt %d", result->tokens);
  }
  printf("%-12s %7d  %-22s %10.2f %10.2f %10.2f %7s %8s %8.0f %8.1f  %.12s%s\n", group->isa,
         group->threads, test, result->median, result->min, result->max, speed, share,
         mib(result->memory), mib(result->kv_bytes), result->print,
         result->differs ? " DIFFERS" : "");
}

void kr_bench_show_group(const kr_bench_group *group) {
  for (guint i = 0; i < group->results->len; i++)
    show_result(group, g_ptr_array_index(group->results, i));
  if (group->before > 0 && group->after > 0)
    printf("%-12s %7d  read bandwidth %.2f GB/s before, %.2f after\n", group->isa, group->threads,
           group->before / 1e9, group->after / 1e9);
  fflush(stdout);
}

static void put_string(GString *out, const char *text) {
  g_autofree char *printable = kr_front_printable(text, -1);
  g_string_append_c(out, '"');
  for (const char *p = printable; *p; p++) {
    if (*p == '"' || *p == '\\') g_string_append_c(out, '\\');
    g_string_append_c(out, *p);
  }
  g_string_append_c(out, '"');
}

static void put_key(GString *out, const char *key) {
  g_string_append_printf(out, "%s\"%s\": ", out->str[out->len - 1] == '{' ? "" : ", ", key);
}

static void put_text(GString *out, const char *key, const char *text) {
  put_key(out, key);
  put_string(out, text);
}

static void put_integer(GString *out, const char *key, gint64 value) {
  put_key(out, key);
  g_string_append_printf(out, "%" G_GINT64_FORMAT, value);
}

static void put_double(GString *out, double value) {
  char text[G_ASCII_DTOSTR_BUF_SIZE];
  g_string_append(out, g_ascii_formatd(text, sizeof text, "%.9g", value));
}

static void put_number(GString *out, const char *key, double value) {
  put_key(out, key);
  put_double(out, value);
}

/* Of a value that is never 0 unless it is unknown. */
static void put_known(GString *out, const char *key, double value) {
  put_key(out, key);
  if (value > 0)
    put_double(out, value);
  else
    g_string_append(out, "null");
}

static void put_result(GString *out, const kr_bench_group *group, const kr_bench_result *result) {
  double used = result->read_bytes * result->median, read = group_bandwidth(group);
  g_string_append_c(out, '{');
  put_text(out, "test", result->decode ? "decode" : "prompt");
  put_integer(out, "tokens", result->tokens);
  put_integer(out, "depth", result->depth);
  put_number(out, "median", result->median);
  put_number(out, "min", result->min);
  put_number(out, "max", result->max);
  put_key(out, "speeds");
  for (guint i = 0; i < result->speeds->len; i++) {
    g_string_append(out, i ? ", " : "[");
    put_double(out, g_array_index(result->speeds, double, i));
  }
  g_string_append_c(out, ']');
  if (result->decode) {
    put_number(out, "read_bytes", result->read_bytes);
    put_number(out, "bandwidth", used);
    put_known(out, "bandwidth_share", read > 0 ? used / read : 0);
  }
  put_known(out, "memory", (double)result->memory);
  put_integer(out, "kv_bytes", result->kv_bytes);
  put_text(out, "logits", result->print);
  put_integer(out, "next", result->next);
  put_key(out, "same");
  g_string_append(out, result->differs ? "false}" : "true}");
}

static void put_group(GString *out, const kr_bench_group *group) {
  g_string_append_c(out, '{');
  put_text(out, "isa", group->isa);
  put_integer(out, "threads", group->threads);
  put_known(out, "read_before", group->before);
  put_known(out, "read_after", group->after);
  put_key(out, "results");
  g_string_append_c(out, '[');
  for (guint i = 0; i < group->results->len; i++) {
    if (i) g_string_append(out, ", ");
    put_result(out, group, g_ptr_array_index(group->results, i));
  }
  g_string_append(out, "]}");
}

void kr_bench_show_json(const kr_bench *bench) {
  const kr_bench_options *o = bench->options;
  const kr_model_info *info = kr_model_get_info(bench->model);
  GString *out = g_string_new("{");
  put_text(out, "version", kr_version());
  put_text(out, "model", o->model);
  put_text(out, "types", info->types);
  put_integer(out, "parameters", info->parameters);
  put_integer(out, "weight_bytes", info->weight_bytes);
  put_integer(out, "vocab", info->n_vocab);
  put_text(out, "kv", kr_front_kv_name(o->engine.kv));
  put_integer(out, "repetitions", o->repetitions);
  put_number(out, "load", bench->load);
  put_number(out, "first_token", bench->first);
  put_known(out, "peak_memory", (double)bench->peak);
  put_key(out, "same");
  g_string_append(out, bench->differs ? "false" : "true");
  put_key(out, "groups");
  g_string_append_c(out, '[');
  for (guint i = 0; i < bench->groups->len; i++) {
    if (i) g_string_append(out, ", ");
    put_group(out, g_ptr_array_index(bench->groups, i));
  }
  g_string_append(out, "]}");
  puts(out->str);
  g_string_free(out, TRUE);
}
