/* Runs a fuzz target over files, once each: every corpus is a regression test. TAP. */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv) {
  printf("1..%d\n", argc - 1);
  for (int i = 1; i < argc; i++) {
    char *data;
    gsize size;
    gboolean ok = g_file_get_contents(argv[i], &data, &size, NULL);
    if (ok) {
      LLVMFuzzerTestOneInput((const uint8_t *)data, size);
      g_free(data);
    }
    g_autofree char *name = g_path_get_basename(argv[i]);
    printf("%s %d %s\n", ok ? "ok" : "not ok", i, name);
    fflush(stdout);
  }
  return 0;
}
