/* Memory: alignment, zeros, requests that cannot be; file mappings and what they refuse. */
#include "base/memory.h"
#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder;

static char *path_of(const char *name) {
  return g_build_filename(folder, name, NULL);
}

static bool all_zero(const uint8_t *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i]) return false;
  return true;
}

static void test_alloc(void) {
  for (size_t n = 0; n < 300; n += 13) {
    uint8_t *dirty = kr_alloc(n, 3);
    memset(dirty, 0xaa, n * 3); /* the same block may come again: it must be zeroed then */
    kr_free(dirty);
    uint8_t *p = kr_alloc(n, 3);
    g_assert_nonnull(p);
    g_assert_cmpuint((uintptr_t)p % 64, ==, 0);
    g_assert_true(all_zero(p, n * 3));
    kr_free(p);
  }
  kr_free(NULL);
}

static void test_impossible(void) {
  g_assert_null(kr_alloc(SIZE_MAX, 1));
  g_assert_null(kr_alloc(SIZE_MAX - 63, 1));
  g_assert_null(kr_alloc(SIZE_MAX / 2, 3));
  g_assert_null(kr_alloc((size_t)1 << (sizeof(size_t) * 4), (size_t)1 << (sizeof(size_t) * 4)));
  g_assert_null(kr_pages_alloc(SIZE_MAX));
  g_assert_null(kr_pages_alloc(SIZE_MAX - (2u << 20)));
  g_assert_null(kr_strndup("x", SIZE_MAX));
  int *array = kr_array_grow(NULL, 4, sizeof *array);
  g_assert_nonnull(array);
  array[3] = 7;
  g_assert_null(kr_array_grow(array, SIZE_MAX / 2, sizeof *array));
  g_assert_cmpint(array[3], ==, 7); /* the old block is still there */
  array = kr_array_grow(array, 4000, sizeof *array);
  g_assert_cmpint(array[3], ==, 7);
  kr_array_free(array);
}

static void test_strings(void) {
  char *s = kr_strdup("abc");
  g_assert_cmpstr(s, ==, "abc");
  kr_free(s);
  s = kr_strndup("abc", 2);
  g_assert_cmpstr(s, ==, "ab");
  kr_free(s);
  s = kr_strndup(NULL, 0);
  g_assert_cmpstr(s, ==, "");
  kr_free(s);
}

static void test_pages(void) {
  static const size_t sizes[] = {1, 4096, 4097, (2 << 20) - 1, (2 << 20) + 4096, 5 << 20};
  for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
    uint8_t *p = kr_pages_alloc(sizes[i]);
    g_assert_nonnull(p);
    g_assert_cmpuint((uintptr_t)p % (2 << 20), ==, 0);
    g_assert_true(all_zero(p, sizes[i]));
    memset(p, 1, sizes[i]);
    kr_pages_free(p, sizes[i]);
  }
  kr_pages_free(NULL, 4096);
}

static void expect_refusal(const char *path, const char *message) {
  const uint8_t byte = 0;
  kr_mapping mapping = {&byte, 77};
  kr_error err = {0};
  g_assert_cmpint(kr_mapping_open(path, &mapping, &err), ==, KR_E_IO);
  g_assert_cmpint(err.code, ==, KR_E_IO);
  g_assert_nonnull(strstr(err.message, message));
  g_assert_true(mapping.data == &byte && mapping.size == 77);
  g_assert_cmpint(kr_mapping_open(path, &mapping, NULL), ==, KR_E_IO);
}

static void test_mapping_refusals(void) {
  g_autofree char *missing = path_of("missing");
  expect_refusal(missing, g_strerror(ENOENT));
  expect_refusal("", g_strerror(ENOENT));
  expect_refusal(folder, "is a directory");
#if defined(G_OS_WIN32) /* no such files there */
  expect_refusal("\xff\xfe", g_strerror(ENOENT));
#else
  g_autofree char *fifo = path_of("fifo"), *loop = path_of("loop");
  expect_refusal("/dev/null", "is not a regular file");
  g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
  expect_refusal(fifo, "is not a regular file"); /* and does not wait for a writer */
  g_assert_cmpint(symlink("loop", loop), ==, 0);
  expect_refusal(loop, g_strerror(ELOOP));
#endif
}

#if !defined(G_OS_WIN32) /* where chmod says only whether a file may be written */
static void test_mapping_unreadable(void) {
  g_autofree char *path = path_of("secret");
  g_assert_true(g_file_set_contents(path, "x", 1, NULL));
  g_assert_cmpint(chmod(path, 0), ==, 0);
  if (!access(path, R_OK)) {
    g_test_skip("this user may read everything");
    return;
  }
  expect_refusal(path, g_strerror(EACCES));
}
#endif

/* Names are UTF-8 everywhere. */
static void test_mapping_name(void) {
  g_autofree char *path = path_of("m\u00f8dell-\u6a21\u578b");
  g_assert_true(g_file_set_contents(path, "x", 1, NULL));
  kr_mapping mapping;
  kr_error err;
  g_assert_cmpint(kr_mapping_open(path, &mapping, &err), ==, KR_OK);
  g_assert_cmpmem(mapping.data, mapping.size, "x", 1);
  kr_mapping_close(&mapping);
}

static void test_mapping(void) {
  g_autofree char *path = path_of("file"), *empty = path_of("empty");
  g_autofree char *content = g_strnfill(10000, 'k');
  g_assert_true(g_file_set_contents(path, content, 10000, NULL));
  g_assert_true(g_file_set_contents(empty, "", 0, NULL));
  kr_mapping mapping;
  kr_error err;
  g_assert_cmpint(kr_mapping_open(path, &mapping, &err), ==, KR_OK);
  g_assert_cmpmem(mapping.data, mapping.size, content, 10000);
  kr_mapping_release(&mapping, mapping.data + 1, 9998); /* given back, and read again */
  g_assert_cmpmem(mapping.data, mapping.size, content, 10000);
  kr_mapping_close(&mapping);
  g_assert_true(!mapping.data && !mapping.size);
  kr_mapping_close(&mapping);
  g_assert_cmpint(kr_mapping_open(empty, &mapping, &err), ==, KR_OK);
  g_assert_true(!mapping.data && !mapping.size);
  kr_mapping_release(&mapping, mapping.data, 0);
  kr_mapping_close(&mapping);
}

static void remove_folder(void) {
  GDir *dir = g_dir_open(folder, 0, NULL);
  for (const char *name; (name = g_dir_read_name(dir));) {
    g_autofree char *path = path_of(name);
    g_unlink(path);
  }
  g_dir_close(dir);
  g_rmdir(folder);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  folder = g_dir_make_tmp("krafla-memory-XXXXXX", NULL);
  g_test_add_func("/memory/alloc", test_alloc);
  g_test_add_func("/memory/impossible", test_impossible);
  g_test_add_func("/memory/strings", test_strings);
  g_test_add_func("/memory/pages", test_pages);
  g_test_add_func("/memory/mapping", test_mapping);
  g_test_add_func("/memory/mapping-refusals", test_mapping_refusals);
#if !defined(G_OS_WIN32)
  g_test_add_func("/memory/mapping-unreadable", test_mapping_unreadable);
#endif
  g_test_add_func("/memory/mapping-name", test_mapping_name);
  int code = g_test_run();
  remove_folder();
  g_free(folder);
  return code;
}
