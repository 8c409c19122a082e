/* krafla-check: does a backend give the bits that the scalar backend gives, and how fast? */
#include "check.h"
#include "check_system.h"
#include "front_parse.h"
#include <glib.h>
#include <krafla/krafla.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_DIFFERENCE = 1, EXIT_USAGE = 2, EXIT_CPU = 3 };
enum { CASES = 600, QUICK_CASES = 150 };
#define TIMED_BYTES (INT64_C(96) << 20) /* of weights: more than last-level caches hold */

static gboolean json, list, no_time, quick;
static gchar **kernel_patterns, **arguments;
static gchar *seed_text;
static gint n_cases, cpu_code = EXIT_CPU;

static const GOptionEntry options[] = {
    {"kernel", 'k', 0, G_OPTION_ARG_STRING_ARRAY, &kernel_patterns,
     "Only these kernels: names or patterns (vector_*), separated by commas", "NAMES"},
    {"seed", 's', 0, G_OPTION_ARG_STRING, &seed_text, "Repeat a run", "NUMBER"},
    {"cases", 'n', 0, G_OPTION_ARG_INT, &n_cases, "Cases of each kernel (600; 150 with --quick)",
     "COUNT"},
    {"quick", 'q', 0, G_OPTION_ARG_NONE, &quick, "Fewer cases, smaller timed operands", NULL},
    {"no-time", 0, 0, G_OPTION_ARG_NONE, &no_time, "Compare only", NULL},
    {"list", 'l', 0, G_OPTION_ARG_NONE, &list, "List backends and kernels, check nothing", NULL},
    {"json", 'j', 0, G_OPTION_ARG_NONE, &json, "Report as one JSON object", NULL},
    {"cpu-lacks-code", 0, 0, G_OPTION_ARG_INT, &cpu_code,
     "Exit code when this CPU lacks a feature that a named backend needs (3)", "CODE"},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments, NULL, "[BACKEND…]"},
    {0},
};

static const char summary[] =
    "Runs every kernel of the backends on random and edge cases beside the scalar backend,\n"
    "compares the results bit by bit, then times both. BACKEND is a plug-in's file,\n"
    "backend-NAME.so, or the name of a backend that is found; default: all that this CPU can run.";
static const char description[] =
    "Exit code: 0 all equal, 1 a difference or a backend that cannot be used, 2 usage,\n"
    "3 the CPU lacks a feature that a named backend needs.";

/* ---- which kernels, which backends ---------------------------------------------------------- */

static bool wanted(const char *kernel) {
  if (!kernel_patterns) return true;
  bool found = false;
  for (gchar **p = kernel_patterns; *p && !found; p++) {
    gchar **parts = g_strsplit(*p, ",", -1);
    for (gchar **q = parts; *q && !found; q++) found = g_pattern_match_simple(*q, kernel);
    g_strfreev(parts);
  }
  return found;
}

static const kr_backend_info *find_name(const kr_backends *all, const char *name) {
  for (size_t i = 0; i < kr_backends_count(all); i++)
    if (strcmp(kr_backends_get(all, i)->name, name) == 0) return kr_backends_get(all, i);
  return NULL;
}

/* Of all the backends in a plug-in's folder, the one in this file; opened owns it. isa "" keeps a
 * cap of the environment away: what is capped is to be checked too. */
static const kr_backend_info *open_file(const char *argument, GPtrArray *opened, kr_error *err) {
  g_autofree char *real = kr_check_real_path(argument);
  if (!real) {
    snprintf(err->message, sizeof err->message, "%s: no such backend or file", argument);
    return NULL;
  }
  gchar *folder = g_path_get_dirname(real);
  kr_backends_options where = {.directory = folder, .isa = ""};
  kr_backends *all = NULL;
  const kr_backend_info *info = NULL;
  if (kr_backends_new(&where, &all, err) == KR_OK) {
    g_ptr_array_add(opened, all);
    snprintf(err->message, sizeof err->message,
             "%s: not a backend's file: it must be called backend-NAME.so", argument);
    for (size_t i = 0; i < kr_backends_count(all); i++) {
      const char *path = kr_backends_get(all, i)->path;
      g_autofree char *other = *path ? kr_check_real_path(path) : NULL;
      if (other && strcmp(real, other) == 0)
        info = kr_backends_get(all, i);
      else if (*path && strcmp(path, folder) == 0)
        snprintf(err->message, sizeof err->message, "%s: %s", argument,
                 kr_backends_get(all, i)->reason);
    }
  }
  g_free(folder);
  return info;
}

/* Whether a skipped backend is skipped for a feature of the CPU: the library says so when the
 * backend is asked for by name. */
static bool cpu_lacks(const kr_backend_info *info) {
  gchar *folder = *info->path ? g_path_get_dirname(info->path) : NULL;
  kr_backends_options ask = {.directory = folder, .isa = info->name};
  kr_backends *all = NULL;
  int code = kr_backends_new(&ask, &all, NULL);
  kr_backends_free(all);
  g_free(folder);
  return code == KR_E_CPU;
}

/* ---- checking ------------------------------------------------------------------------------- */

static void check_kernel(const kr_check_kernel *kernel, const kr_kernels *scalar,
                         const kr_kernels *table, uint64_t seed, kr_check_result *result) {
  kr_check_fn *reference = kr_check_get(scalar, kernel), *candidate = kr_check_get(table, kernel);
  result->kernel = kernel->name;
  result->unit = kernel->kind->unit;
  result->equal = true;
  if (!candidate) return;
  int64_t cases = n_cases > 0 ? n_cases : quick ? QUICK_CASES : CASES;
  for (int64_t i = 0; i < cases && result->equal; i++) {
    kr_check_job job;
    result->cases = i + 1;
    result->equal = kr_check_job_new(&job, kernel, seed, i);
    if (result->equal)
      result->equal =
          kr_check_compare(&job, reference, candidate, result->message, sizeof result->message);
    else
      snprintf(result->message, sizeof result->message, "no memory for case %lld", (long long)i);
    kr_check_job_clear(&job);
  }
  if (no_time || !result->equal) return;
  /* at most an eighth of the machine's memory */
  int64_t memory = kr_check_memory_bytes() / 8;
  int64_t bytes = quick ? TIMED_BYTES / 8 : TIMED_BYTES;
  result->equal = kr_check_time(kernel, reference, candidate, seed,
                                memory > 0 && memory < bytes ? memory : bytes, &result->speed,
                                result->message, sizeof result->message);
}

/* True when all of its kernels are equal. */
static bool check_backend(const kr_backend_info *info, const kr_kernels *scalar, uint64_t seed,
                          bool first) {
  kr_check_result *results = g_new0(kr_check_result, kr_check_n_kernels);
  kr_check_backend backend = {.name = info->name,
                              .path = info->path,
                              .features = info->features,
                              .provenance = info->provenance,
                              .reason = info->kernels ? "" : info->reason,
                              .rank = info->rank,
                              .results = results};
  bool equal = true;
  for (size_t i = 0; info->kernels && i < kr_check_n_kernels; i++) {
    if (!wanted(kr_check_kernels[i].name)) continue;
    kr_check_result *result = &results[backend.n_results++];
    check_kernel(&kr_check_kernels[i], scalar, info->kernels, seed, result);
    equal = equal && result->equal;
  }
  kr_check_report_backend(json, &backend, first, !no_time);
  if (!equal && json) { /* the object is for programs; people see the kernel's name too */
    for (size_t i = 0; i < backend.n_results; i++)
      if (!results[i].equal)
        g_printerr("%s: %s: %s\n", info->name, results[i].kernel, results[i].message);
  }
  g_free(results);
  return equal;
}

/* The backends named on the command line. Exit code. */
static int check_named(const kr_backends *all, const kr_kernels *scalar, uint64_t seed) {
  int code = 0;
  bool first = true;
  GPtrArray *opened = g_ptr_array_new_with_free_func((GDestroyNotify)kr_backends_free);
  for (gchar **a = arguments; *a; a++) {
    kr_error err = {0};
    const kr_backend_info *info = strpbrk(*a, "/" G_DIR_SEPARATOR_S) ? NULL : find_name(all, *a);
    if (!info) info = open_file(*a, opened, &err);
    if (!info) {
      g_printerr("error: %s\n", err.message);
      code = EXIT_DIFFERENCE;
      continue;
    }
    if (!info->kernels) {
      g_printerr("%s: skipped: %s\n", *a, info->reason);
      if (code == 0) code = cpu_lacks(info) ? cpu_code : EXIT_DIFFERENCE;
    }
    if (!check_backend(info, scalar, seed, first)) code = EXIT_DIFFERENCE;
    first = false;
  }
  g_ptr_array_unref(opened);
  return code;
}

static int check_all(const kr_backends *all, const kr_kernels *scalar, uint64_t seed) {
  bool equal = true, first = true;
  for (size_t i = kr_backends_count(all); i-- > 0;) { /* lowest rank first */
    const kr_backend_info *info = kr_backends_get(all, i);
    if (info->kernels == scalar) continue; /* the reference */
    equal = check_backend(info, scalar, seed, first) && equal;
    first = false;
  }
  if (first && !json) printf("\nthere is no backend beside scalar\n");
  return equal ? 0 : EXIT_DIFFERENCE;
}

static void print_list(const kr_backends *all) {
  for (size_t i = 0; i < kr_backends_count(all); i++) {
    const kr_backend_info *info = kr_backends_get(all, i);
    printf("%-14s rank %3d  %s%s%s\n", info->name, info->rank,
           *info->path ? info->path : "built in",
           info->kernels ? "" : "  skipped: ", info->kernels ? "" : info->reason);
  }
  for (size_t i = 0; i < kr_check_n_kernels; i++) {
    printf("%-14s", kr_check_kernels[i].name);
    for (size_t b = 0; b < kr_backends_count(all); b++)
      if (kr_check_get(kr_backends_get(all, b)->kernels, &kr_check_kernels[i]))
        printf(" %s", kr_backends_get(all, b)->name);
    printf("\n");
  }
}

/* ---- the command line ----------------------------------------------------------------------- */

static bool parse(int *argc, char ***argv, uint64_t *ret_seed) {
  GError *error = NULL;
  GOptionContext *context = g_option_context_new(NULL);
  g_option_context_set_summary(context, summary);
  g_option_context_set_description(context, description);
  g_option_context_add_main_entries(context, options, NULL);
  bool ok = kr_front_parse(context, argc, argv, &error);
  g_option_context_free(context);
  if (!ok) {
    g_printerr("error: %s\n", error->message);
    g_error_free(error);
    return false;
  }
  *ret_seed = (uint64_t)g_get_real_time();
  if (seed_text && !g_ascii_string_to_unsigned(seed_text, 10, 0, G_MAXUINT64, ret_seed, &error)) {
    g_printerr("error: --seed %s: %s\n", seed_text, error->message);
    g_error_free(error);
    return false;
  }
  bool any = false;
  for (size_t i = 0; i < kr_check_n_kernels; i++) any = any || wanted(kr_check_kernels[i].name);
  if (!any) g_printerr("error: --kernel: no kernel has such a name (--list shows them)\n");
  return any;
}

int main(int argc, char **argv) {
  uint64_t seed;
  setlocale(LC_CTYPE, "");
  if (!parse(&argc, &argv, &seed)) return EXIT_USAGE;
  kr_error err = {0};
  kr_backends *all = NULL;
  kr_backends_options where = {.isa = ""};
  if (kr_backends_new(&where, &all, &err) != KR_OK) {
    g_printerr("error: %s\n", err.message);
    return EXIT_DIFFERENCE;
  }
  const kr_backend_info *scalar = find_name(all, "scalar");
  if (!scalar || !scalar->kernels) {
    g_printerr("error: the core has no scalar backend to compare with\n");
    return EXIT_DIFFERENCE;
  }
  int code = 0;
  if (list) {
    print_list(all);
  } else {
    kr_check_report_open(json, kr_version(), seed);
    code =
        arguments ? check_named(all, scalar->kernels, seed) : check_all(all, scalar->kernels, seed);
    kr_check_report_close(json, code);
  }
  kr_backends_free(all);
  return code;
}
