/* Runs a fuzz target over the files of a folder, once each: every corpus is a regression test. TAP.
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int compare(const void *a, const void *b) {
  return g_strcmp0(*(char *const *)a, *(char *const *)b);
}

static GPtrArray *list(const char *folder) {
  GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
  GDir *dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));)
    g_ptr_array_add(names, g_strdup(name));
  if (dir) g_dir_close(dir);
  g_ptr_array_sort(names, compare);
  return names;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  GPtrArray *names = list(argv[1]);
  printf("1..%u\n", MAX(names->len, 1));
  for (guint i = 0; i < names->len; i++) {
    g_autofree char *path = g_build_filename(argv[1], names->pdata[i], NULL);
    char *data;
    gsize size;
    gboolean ok = g_file_get_contents(path, &data, &size, NULL);
    if (ok) {
      LLVMFuzzerTestOneInput((const uint8_t *)data, size);
      g_free(data);
    }
    printf("%s %u %s\n", ok ? "ok" : "not ok", i + 1, (const char *)names->pdata[i]);
    fflush(stdout);
  }
  if (!names->len) printf("not ok 1 %s: no corpus\n", argv[1]);
  g_ptr_array_unref(names);
  return 0;
}
