/* Models split over several files: opened by any part's name, and refused when the parts do not fit
 * together. */
#include "gguf_bytes.h"
#include <glib/gstdio.h>
#include <string.h>

typedef struct folder {
  gchar *path;
} folder;

static void begin(folder *f, gconstpointer data) {
  (void)data;
  GError *error = NULL;
  f->path = g_dir_make_tmp("krafla-split-XXXXXX", &error);
  g_assert_no_error(error);
}

static void end(folder *f, gconstpointer data) {
  (void)data;
  GDir *dir = g_dir_open(f->path, 0, NULL);
  for (const gchar *name; (name = g_dir_read_name(dir));) {
    gchar *path = g_build_filename(f->path, name, NULL);
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_free(path);
  }
  g_dir_close(dir);
  g_assert_cmpint(g_rmdir(f->path), ==, 0);
  g_free(f->path);
}

static gchar *part_path(const folder *f, int no, int count) {
  return g_strdup_printf("%s/m-%05d-of-%05d.gguf", f->path, no + 1, count);
}

static void write_file(const gchar *path, GBytes *bytes) {
  GError *error = NULL;
  g_file_set_contents(path, g_bytes_get_data(bytes, NULL), (gssize)g_bytes_get_size(bytes), &error);
  g_assert_no_error(error);
  g_bytes_unref(bytes);
}

/* What a part says of itself; -1 leaves a key out. */
typedef struct part {
  int no, count, n_tensors;
  int own;            /* tensors "t.<no>.<i>" in this part */
  const char *extra;  /* one tensor more of this name */
  uint64_t alignment; /* 0: the default */
} part;

static GBytes *make_part(const part *p) {
  kr_made made;
  kr_made_begin(&made, 3);
  if (p->no == 0) kr_made_string(&made, "general.architecture", "llama");
  if (p->alignment) {
    kr_made_u32(&made, "general.alignment", (uint32_t)p->alignment);
    made.alignment = p->alignment;
  }
  if (p->no >= 0) kr_made_u16(&made, "split.no", (uint16_t)p->no);
  if (p->count >= 0) kr_made_u16(&made, "split.count", (uint16_t)p->count);
  if (p->n_tensors >= 0) {
    kr_made_key(&made, "split.tensors.count", KR_VALUE_I32);
    kr_put_u32(made.keys, (uint32_t)p->n_tensors);
  }
  for (int i = 0; i < p->own; i++) {
    gchar *name = g_strdup_printf("t.%d.%d", p->no, i);
    kr_made_f32(&made, name, 3, (float)(100 * p->no + 10 * i));
    g_free(name);
  }
  if (p->extra) kr_made_f32(&made, p->extra, 1, 0);
  return kr_made_end(&made);
}

static void write_parts(const folder *f, const part *parts, int n) {
  for (int i = 0; i < n; i++) {
    gchar *path = part_path(f, i, n);
    write_file(path, make_part(&parts[i]));
    g_free(path);
  }
}

static void open_each(const folder *f, const part *parts, int n) {
  gchar *first = part_path(f, 0, n);
  for (int opened = 0; opened < n; opened++) {
    gchar *path = part_path(f, opened, n);
    kr_source *source = NULL;
    kr_error err = {0};
    if (kr_source_open(path, &source, &err)) g_error("%s", err.message);
    g_assert_cmpstr(kr_source_path(source), ==, first);
    g_assert_nonnull(kr_source_get(source, "general.architecture"));
    size_t at = 0;
    for (int no = 0; no < n; no++)
      for (int i = 0; i < parts[no].own; i++, at++) {
        gchar *name = g_strdup_printf("t.%d.%d", no, i);
        const kr_tensor *tensor = kr_source_tensor(source, name);
        g_assert_true(tensor == kr_source_tensor_at(source, at)); /* in the order of the parts */
        float start = (float)(100 * no + 10 * i);
        for (int round = 0; round < 2; round++) {
          g_assert_cmpmem(tensor->data, tensor->bytes, ((float[]){start, start + 1, start + 2}),
                          12);
          kr_source_release(source, tensor);
        }
        g_free(name);
      }
    g_assert_cmpuint(kr_source_n_tensors(source), ==, at);
    kr_source_close(source);
    g_free(path);
  }
  g_free(first);
}

static void test_two(folder *f, gconstpointer data) {
  (void)data;
  part parts[] = {{0, 2, 3, 2, NULL, 0}, {1, 2, 3, 1, NULL, 64}};
  write_parts(f, parts, 2);
  open_each(f, parts, 2);
}

/* The first part may hold the metadata alone. */
static void test_three(folder *f, gconstpointer data) {
  (void)data;
  part parts[] = {{0, 3, 5, 0, NULL, 0}, {1, 3, 5, 3, NULL, 0}, {2, 3, 5, 2, NULL, 8}};
  write_parts(f, parts, 3);
  open_each(f, parts, 3);
}

static void test_no_total(folder *f, gconstpointer data) {
  (void)data;
  part parts[] = {{0, 2, -1, 1, NULL, 0}, {1, 2, -1, 1, NULL, 0}};
  write_parts(f, parts, 2);
  open_each(f, parts, 2);
}

/* Merged files keep split.count 0; 1 is a whole model too, whatever the name. */
static void test_whole(folder *f, gconstpointer data) {
  (void)data;
  for (int count = -1; count <= 1; count++) {
    part p = {0, count, 2, 2, NULL, 0};
    gchar *path = part_path(f, 1, 7);
    write_file(path, make_part(&p));
    kr_source *source = NULL;
    kr_error err = {0};
    if (kr_source_open(path, &source, &err)) g_error("%s", err.message);
    g_assert_cmpuint(kr_source_n_tensors(source), ==, 2);
    kr_source_close(source);
    g_free(path);
  }
}

static void refuse(const gchar *path, int code, const gchar *start, const char *words) {
  kr_source *source = NULL;
  kr_error err = {0};
  int got = kr_source_open(path, &source, &err);
  g_test_message("%s", err.message);
  g_assert_cmpint(got, ==, code);
  g_assert_null(source);
  gchar *prefix = g_strconcat(start, ": ", NULL);
  kr_expect_words(&err, prefix, words);
  g_free(prefix);
}

/* Opening the first part fails with a message about part number at. */
static void refuse_parts(const folder *f, const part *parts, int n, int at, const char *words) {
  write_parts(f, parts, n);
  gchar *first = part_path(f, 0, n), *faulty = part_path(f, at, n);
  refuse(first, KR_E_FORMAT, faulty, words);
  g_free(first);
  g_free(faulty);
}

static void test_missing(folder *f, gconstpointer data) {
  (void)data;
  part parts[] = {{0, 3, 3, 1, NULL, 0}, {1, 3, 3, 1, NULL, 0}, {2, 3, 3, 1, NULL, 0}};
  write_parts(f, parts, 3);
  gchar *path[] = {part_path(f, 0, 3), part_path(f, 1, 3), part_path(f, 2, 3)};
  g_assert_cmpint(g_unlink(path[1]), ==, 0);
  refuse(path[0], KR_E_IO, path[0], "part 2 of 3|missing|'m-00002-of-00003.gguf'");
  refuse(path[2], KR_E_IO, path[2], "part 2 of 3|missing|'m-00002-of-00003.gguf'");
  refuse(path[1], KR_E_IO, path[1], "cannot be opened");
  g_assert_cmpint(g_unlink(path[0]), ==, 0);
  refuse(path[2], KR_E_IO, path[2],
         "2 of the 3 parts|missing|the first is 'm-00001-of-00003.gguf'");
  for (int i = 0; i < 3; i++) g_free(path[i]);
}

static void test_name(folder *f, gconstpointer data) {
  (void)data;
  part p = {1, 3, 3, 1, NULL, 0};
  static const char *const names[] = {"model.gguf", "m-00001-of-00003.gguf",
                                      "m-00002-of-00004.gguf", "m-2-of-3.gguf", "m"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    gchar *path = g_build_filename(f->path, names[i], NULL);
    write_file(path, make_part(&p));
    refuse(path, KR_E_FORMAT, path, "part 2 of 3|split.no 1|'-00002-of-00003.gguf'");
    g_assert_cmpint(g_unlink(path), ==, 0);
    g_free(path);
  }
}

static void test_wrong_numbers(folder *f, gconstpointer data) {
  (void)data;
  part no[] = {{0, 2, 2, 1, NULL, 0}, {0, 2, 2, 1, NULL, 0}};
  refuse_parts(f, no, 2, 1, "'split.no' is 0|part 2 of 2");
  part count[] = {{0, 2, 2, 1, NULL, 0}, {1, 3, 2, 1, NULL, 0}};
  refuse_parts(f, count, 2, 1, "'split.count' is 3|in another part of the model 2");
  part total[] = {{0, 2, 2, 1, NULL, 0}, {1, 2, 7, 1, NULL, 0}};
  refuse_parts(f, total, 2, 1, "'split.tensors.count' is 7|in another part of the model 2");
  part sum[] = {{0, 2, 5, 1, NULL, 0}, {1, 2, 5, 1, NULL, 0}};
  refuse_parts(f, sum, 2, 0, "'split.tensors.count' is 5|have 2 tensors");
  part large[] = {{9, 2, 2, 1, NULL, 0}, {1, 2, 2, 1, NULL, 0}};
  refuse_parts(f, large, 2, 0, "'split.no' is 9");
  part none[] = {{-1, 2, 2, 1, NULL, 0}, {1, 2, 2, 1, NULL, 0}};
  refuse_parts(f, none, 2, 0, "'split.no' is missing");
  part alone[] = {{0, 2, 2, 1, NULL, 0}, {1, -1, 2, 1, NULL, 0}};
  refuse_parts(f, alone, 2, 1, "'split.count' is missing");
  part unnumbered[] = {{0, 2, 2, 1, NULL, 0}, {-1, 2, 2, 1, NULL, 0}};
  refuse_parts(f, unnumbered, 2, 1, "'split.no' is missing");
}

static void test_duplicate(folder *f, gconstpointer data) {
  (void)data;
  part parts[] = {{0, 2, 3, 1, NULL, 0}, {1, 2, 3, 1, "t.0.0", 0}};
  refuse_parts(f, parts, 2, 0, "duplicate tensor name 't.0.0'|parts 1 and 2");
}

static void test_bad_part(folder *f, gconstpointer data) {
  (void)data;
  part parts[] = {{0, 2, 2, 1, NULL, 0}, {1, 2, 2, 1, NULL, 0}};
  write_parts(f, parts, 2);
  gchar *first = part_path(f, 0, 2), *second = part_path(f, 1, 2);
  write_file(second, g_bytes_new_static("<html>not found", 15));
  refuse(first, KR_E_FORMAT, second, "HTML");
  GBytes *bytes = make_part(&parts[1]);
  write_file(second, g_bytes_new_from_bytes(bytes, 0, g_bytes_get_size(bytes) - 4));
  refuse(first, KR_E_FORMAT, second, "incomplete: need");
  g_bytes_unref(bytes);
  g_free(first);
  g_free(second);
}

/* The largest count that the format has: every part is looked for, nothing is allocated by it but
 * what holds the parts. */
static void test_many(folder *f, gconstpointer data) {
  (void)data;
  part p = {0, 65535, 2, 1, NULL, 0};
  gchar *path = part_path(f, 0, 65535);
  write_file(path, make_part(&p));
  refuse(path, KR_E_IO, path, "65534 of the 65535 parts|'m-00002-of-65535.gguf'");
  g_free(path);
}

static void test_bytes(folder *f, gconstpointer data) {
  (void)f, (void)data;
  part p = {0, 2, 2, 1, NULL, 0};
  kr_expect_refused(make_part(&p), KR_E_UNSUPPORTED, "split model|memory");
}

int main(int argc, char **argv) {
  static const struct {
    const char *path;
    void (*test)(folder *, gconstpointer);
  } tests[] = {{"/split/two", test_two},
               {"/split/three", test_three},
               {"/split/no-total", test_no_total},
               {"/split/whole", test_whole},
               {"/split/missing", test_missing},
               {"/split/name", test_name},
               {"/split/wrong-numbers", test_wrong_numbers},
               {"/split/duplicate", test_duplicate},
               {"/split/bad-part", test_bad_part},
               {"/split/many", test_many},
               {"/split/bytes", test_bytes}};
  g_test_init(&argc, &argv, NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
    g_test_add(tests[i].path, folder, NULL, begin, tests[i].test, end);
  return g_test_run();
}
