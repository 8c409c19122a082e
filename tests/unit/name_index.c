/* The index over names: every name is found, no other is, and equal ones are refused. */
#include "formats/names.h"
#include <glib.h>
#include <string.h>

typedef struct entry {
  kr_text name;
  int number;
} entry;

static void test_find(void) {
  enum { N = 50000 };
  entry *entries = g_new0(entry, N);
  for (int i = 0; i < N; i++) {
    gchar *name = g_strdup_printf("blk.%d.attn_q.weight%s", i, i % 3 ? "" : ".long.tail.behind.it");
    entries[i] = (entry){{name, strlen(name)}, i};
  }
  kr_names names = {0};
  size_t twins[2];
  g_assert_cmpint(kr_names_build(entries, sizeof *entries, N, &names, twins), ==, KR_OK);
  for (int i = 0; i < N; i++) {
    kr_text name = entries[i].name;
    g_assert_cmpuint(kr_names_find(&names, entries, sizeof *entries, name.data, name.n), ==, i);
    g_assert_cmpuint(kr_names_find(&names, entries, sizeof *entries, name.data, name.n - 1), ==,
                     SIZE_MAX);
  }
  kr_names_clear(&names);
  g_assert_cmpuint(kr_names_find(&names, entries, sizeof *entries, "x", 1), ==, SIZE_MAX);
  for (int i = 0; i < N; i++) g_free((gpointer)entries[i].name.data);
  g_free(entries);
}

/* All lengths around the hash's words, zero bytes and the empty name included. */
static void test_lengths(void) {
  static const char zeros[40] = {0};
  entry entries[40];
  for (int i = 0; i < 40; i++) entries[i] = (entry){{zeros, (size_t)i}, i};
  kr_names names = {0};
  size_t twins[2];
  g_assert_cmpint(kr_names_build(entries, sizeof *entries, 40, &names, twins), ==, KR_OK);
  for (size_t i = 0; i < 40; i++)
    g_assert_cmpuint(kr_names_find(&names, entries, sizeof *entries, zeros, i), ==, i);
  kr_names_clear(&names);
}

static void test_twins(void) {
  entry entries[] = {{{"a", 1}, 0}, {{"b", 1}, 1}, {{"ab", 2}, 2}, {{"b", 1}, 3}};
  kr_names names = {0};
  size_t twins[2];
  g_assert_cmpint(kr_names_build(entries, sizeof *entries, 4, &names, twins), ==, KR_E_FORMAT);
  g_assert_true(twins[0] == 1 && twins[1] == 3);
  g_assert_null(names.slots);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/names/find", test_find);
  g_test_add_func("/names/lengths", test_lengths);
  g_test_add_func("/names/twins", test_twins);
  return g_test_run();
}
