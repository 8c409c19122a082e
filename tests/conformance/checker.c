/* krafla-check itself: it must notice each defect of wrong_backend.c and name the kernel.
 *
 * checker KRAFLA-CHECK WRONG-BACKEND FOREIGN-BACKEND [TAP options] */
#include <glib.h>
#include <string.h>

static const char *program, *wrong, *foreign;

/* Runs krafla-check; the caller frees the outputs. Returns its exit code. */
static int run(const char *backend, const char *option, const char *value, gchar **ret_output,
               gchar **ret_errors) {
  const gchar *argv[] = {program, backend, "--no-time", "--seed", "7", option, value, NULL};
  GError *error = NULL;
  int status = 0;
  g_spawn_sync(NULL, (gchar **)argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, ret_output, ret_errors,
               &status, &error);
  g_assert_no_error(error);
  g_autoptr(GError) ended = NULL;
  if (g_spawn_check_wait_status(status, &ended)) return 0;
  g_assert_true(ended->domain == G_SPAWN_EXIT_ERROR);
  return ended->code;
}

typedef struct defect {
  const char *kernel, *message;
} defect;

static void test_defect(gconstpointer data) {
  const defect *d = data;
  gchar *output, *errors;
  int code = run(wrong, "--kernel", d->kernel, &output, &errors);
  gchar *line = g_strdup_printf("%s: ", d->kernel);
  char *message = strstr(output, line);
  g_test_message("%s%s", output, errors);
  g_assert_cmpint(code, ==, 1);
  g_assert_nonnull(message);
  g_assert_nonnull(strstr(message, d->message));
  g_free(line);
  g_free(output);
  g_free(errors);
}

static void test_right_kernel(void) {
  gchar *output, *errors;
  g_assert_cmpint(run(wrong, "--kernel", "rope_pairs", &output, &errors), ==, 0);
  g_assert_nonnull(strstr(output, "same bits"));
  g_free(output);
  g_free(errors);
}

static void test_all_at_once(void) {
  static const char *const names[] = {"vector_f32",  "matrix_f32", "rms_norm", "silu_gate",
                                      "rope_halves", "add",        "to_f16"};
  gchar *output, *errors;
  g_assert_cmpint(run(wrong, "--json", NULL, &output, &errors), ==, 1);
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) g_assert_nonnull(strstr(errors, names[i]));
  g_assert_null(strstr(errors, "rope_pairs"));
  g_assert_nonnull(strstr(output, "\"equal\": false}"));
  g_free(output);
  g_free(errors);
}

static void test_missing_feature(void) {
  gchar *output, *errors;
  g_assert_cmpint(run(foreign, NULL, NULL, &output, &errors), ==, 3);
  g_assert_nonnull(strstr(errors, "avx9000"));
  g_free(output);
  g_free(errors);
  g_assert_cmpint(run(foreign, "--cpu-lacks-code", "77", &output, &errors), ==, 77);
  g_free(output);
  g_free(errors);
}

static void test_no_backend(void) {
  gchar *output, *errors;
  g_assert_cmpint(run("/nowhere/backend-none.so", NULL, NULL, &output, &errors), ==, 1);
  g_assert_nonnull(strstr(errors, "backend-none.so"));
  g_free(output);
  g_free(errors);
  g_assert_cmpint(run(program, NULL, NULL, &output, &errors), ==, 1); /* a file, but no backend */
  g_free(output);
  g_free(errors);
}

static void test_usage(void) {
  gchar *output, *errors;
  g_assert_cmpint(run(wrong, "--kernel", "vector_q9", &output, &errors), ==, 2);
  g_free(output);
  g_free(errors);
  g_assert_cmpint(run(wrong, "--no-such-option", NULL, &output, &errors), ==, 2);
  g_free(output);
  g_free(errors);
}

int main(int argc, char **argv) {
  static const defect defects[] = {
      {"add", "x[37] is 0x"},
      {"rms_norm", "outside of y"},
      {"vector_f32", "outside of y"},
      {"matrix_f32", "y["},
      {"to_f16", "touched memory outside of x"},
      {"silu_gate", "wrote to its input"},
      {"rope_halves", "x["},
  };
  g_test_init(&argc, &argv, NULL);
  if (argc != 4) return 2;
  program = argv[1], wrong = argv[2], foreign = argv[3];
  for (size_t i = 0; i < G_N_ELEMENTS(defects); i++) {
    gchar *path = g_strdup_printf("/checker/defect/%s", defects[i].kernel);
    g_test_add_data_func(path, &defects[i], test_defect);
    g_free(path);
  }
  g_test_add_func("/checker/right-kernel", test_right_kernel);
  g_test_add_func("/checker/all-at-once", test_all_at_once);
  g_test_add_func("/checker/missing-feature", test_missing_feature);
  g_test_add_func("/checker/no-backend", test_no_backend);
  g_test_add_func("/checker/usage", test_usage);
  return g_test_run();
}
