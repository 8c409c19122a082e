/* Inputs that broke other readers, with the message that each gets here. The numbers C12 to C22 are
 * those of the project's list of such inputs. */
#include "gguf_bytes.h"
#include <glib/gstdio.h>
#include <string.h>
#if defined(G_OS_WIN32)
#include <windows.h>
/* after windows.h */
#include <psapi.h>
#else
#include <sys/resource.h>
#endif

static void test_c12_empty_key(void) {
  kr_made made;
  kr_made_begin(&made, 3);
  kr_made_u32(&made, "", 1);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "key 1 of 1|offset 24|empty");
}

/* One tensor of 64 bytes whose dims are set to something else. */
static void refuse_dims(uint32_t type, uint32_t n, const uint64_t *dims, const char *words) {
  kr_made made;
  kr_made_begin(&made, 3);
  kr_made_entry(&made, "w.weight", n, dims, type, 0);
  for (int i = 0; i < 64; i++) kr_put_u8(made.data, 0);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, words);
}

static void test_c13_dims_wrap(void) {
  const uint64_t big = UINT64_C(1) << 62, rows = (UINT64_C(1) << 42) + 1;
  refuse_dims(KR_TYPE_F32, 2, (uint64_t[]){4, rows},
              "'w.weight'|larger than the file|[4, 4398046511105] of type F32");
  refuse_dims(KR_TYPE_F32, 2, (uint64_t[]){UINT64_MAX, 2}, "'w.weight'|dimension 1 of 2 is -1");
  refuse_dims(KR_TYPE_F32, 2, (uint64_t[]){INT64_MAX, 2}, "'w.weight'|larger than the file");
  refuse_dims(KR_TYPE_F32, 1, (uint64_t[]){big}, "'w.weight'|larger than the file");
  refuse_dims(KR_TYPE_F32, 1, (uint64_t[]){big + 16}, "'w.weight'|larger than the file");
  refuse_dims(KR_TYPE_F32, 4, (uint64_t[]){65536, 65536, 65536, 65536}, "larger than the file");
  /* modulo 2^64 these are the 32 values that are there */
  refuse_dims(KR_TYPE_F16, 3, (uint64_t[]){4194305, 4194305, UINT64_C(1688849591828512)},
              "larger than the file");
  refuse_dims(KR_TYPE_F32, 2, (uint64_t[]){16, 0}, "'w.weight'|dimension 2 of 2 is 0");
  refuse_dims(KR_TYPE_F32, 0, NULL, "'w.weight'|number of dimensions|is 0, not 1 to 4");
  refuse_dims(KR_TYPE_F32, 5, (uint64_t[]){1, 1, 1, 1, 16}, "number of dimensions|is 5");
  refuse_dims(KR_TYPE_Q8_0, 1, (uint64_t[]){33}, "'w.weight'|[33]|Q8_0|whole blocks of 32");
  refuse_dims(KR_TYPE_Q4_K, 2, (uint64_t[]){32, 8}, "'w.weight'|Q4_K|whole blocks of 256");
}

static long peak_kib(void) {
#if defined(G_OS_WIN32)
  PROCESS_MEMORY_COUNTERS c = {.cb = sizeof c};
  g_assert_true(K32GetProcessMemoryInfo(GetCurrentProcess(), &c, sizeof c));
  return (long)(c.PeakWorkingSetSize >> 10);
#else
  struct rusage usage;
  g_assert_cmpint(getrusage(RUSAGE_SELF, &usage), ==, 0);
  return usage.ru_maxrss;
#endif
}

static void test_c15_lengths(void) {
  long before = peak_kib();
  static const uint64_t lengths[] = {(UINT64_C(1) << 30) - 1, UINT64_C(1) << 63, UINT64_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(lengths); i++) {
    kr_made made;
    kr_made_begin(&made, 3);
    kr_made_key(&made, "general.name", KR_VALUE_STRING);
    kr_put_u64(made.keys, lengths[i]);
    for (int j = 0; j < 100; j++) kr_put_u8(made.keys, 'x');
    kr_expect_refused(kr_made_end(&made), KR_E_FORMAT,
                      "'general.name'|truncated|string|100 are left");
  }
  static const uint64_t counts[] = {UINT64_C(1) << 30, UINT64_C(1) << 60, (UINT64_C(1) << 61) + 1,
                                    UINT64_C(1) << 62, UINT64_C(1) << 63, UINT64_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
    for (uint32_t element = KR_VALUE_U8; element <= KR_VALUE_F64; element++) {
      kr_made made;
      kr_made_begin(&made, 3);
      kr_made_array(&made, "some.array", element, counts[i]);
      for (int j = 0; j < 100; j++) kr_put_u8(made.keys, 0);
      kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "'some.array'|count of|100 bytes left");
    }
  g_assert_cmpint(peak_kib() - before, <, 16 * 1024);
}

static void test_c16_alignment(void) {
  static const uint32_t wrong[] = {0, 1, 3, 4, 33, 1u << 17, 1u << 30, 1u << 31, UINT32_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
    kr_made made;
    kr_made_begin(&made, 3);
    kr_made_u32(&made, "general.alignment", wrong[i]);
    kr_made_f32(&made, "w", 16, 0);
    gchar *words =
        g_strdup_printf("'general.alignment' is %u|power of two from 8 to 65536", wrong[i]);
    kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, words);
    g_free(words);
  }
  kr_made made;
  kr_made_begin(&made, 3);
  kr_made_string(&made, "general.alignment", "32");
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "'general.alignment'|string|an integer");
}

/* A vocabulary's arrays may have any type here: what they must be is the tokenizer's to say. */
static void test_c18_scores_types(void) {
  for (uint32_t element = KR_VALUE_U8; element <= KR_VALUE_F64; element++) {
    if (element == KR_VALUE_STRING || element == KR_VALUE_ARRAY) continue;
    kr_made made;
    kr_made_begin(&made, 3);
    kr_made_array(&made, "tokenizer.ggml.scores", element, 1);
    kr_put_u64(made.keys, 1);
    GBytes *all = kr_made_end(&made);
    size_t spare = 8 - (size_t[]){1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8}[element];
    GBytes *bytes = g_bytes_new_from_bytes(all, 0, g_bytes_get_size(all) - spare);
    kr_source *source = NULL;
    kr_error err = {0};
    gsize size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    g_assert_cmpint(kr_source_open_bytes("made.gguf", data, size, &source, &err), ==, KR_OK);
    g_assert_cmpuint(kr_source_get(source, "tokenizer.ggml.scores")->element, ==, element);
    kr_source_close(source);
    g_bytes_unref(bytes);
    g_bytes_unref(all);
  }
}

static void test_c19_duplicate_tokens(void) {
  kr_made made;
  kr_made_begin(&made, 3);
  kr_made_array(&made, "tokenizer.ggml.tokens", KR_VALUE_STRING, 4);
  for (int i = 0; i < 4; i++) kr_put_text(made.keys, i ? "same" : "other");
  GBytes *bytes = kr_made_end(&made);
  gsize size;
  const uint8_t *data = g_bytes_get_data(bytes, &size);
  kr_source *source = NULL;
  kr_error err = {0};
  g_assert_cmpint(kr_source_open_bytes("made.gguf", data, size, &source, &err), ==, KR_OK);
  g_assert_cmpuint(kr_source_get(source, "tokenizer.ggml.tokens")->n, ==, 4);
  kr_source_close(source);
  g_bytes_unref(bytes);
}

static void test_c21_incomplete(void) {
  GBytes *whole = kr_made_sample(3);
  gsize size = g_bytes_get_size(whole);
  gchar *words =
      g_strdup_printf("incomplete: need %zu bytes, have %zu|'last.weight'", size, size - 20);
  kr_expect_refused(g_bytes_new_from_bytes(whole, 0, size - 20), KR_E_FORMAT, words);
  g_free(words);
  g_bytes_unref(whole);

  kr_made made; /* 1147 tensors promised, 1025 there */
  kr_made_begin(&made, 3);
  for (int i = 0; i < 1025; i++) {
    gchar *name = g_strdup_printf("blk.%d.weight", i);
    kr_made_f32(&made, name, 8, 1.0f);
    g_free(name);
  }
  made.n_tensors = 1147;
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "tensor 1026 of 1147|offset|fewer tensors");
}

static GBytes *patched(size_t at, const char *bytes, size_t n) {
  GBytes *sample = kr_made_sample(3);
  gsize size;
  guint8 *data = g_bytes_unref_to_data(sample, &size);
  memcpy(data + at, bytes, n);
  return g_bytes_new_take(data, size);
}

static void test_c22_byte_order(void) {
  kr_expect_refused(patched(4, "\0\0\0\3", 4), KR_E_UNSUPPORTED, "big-endian|version 3|convert");
  kr_expect_refused(patched(0, "FUGG", 4), KR_E_FORMAT, "byte order|convert");
}

static void test_versions(void) {
  kr_expect_refused(patched(4, "\0\0\0\0", 4), KR_E_UNSUPPORTED, "version 0");
  kr_expect_refused(patched(4, "\1\0\0\0", 4), KR_E_UNSUPPORTED, "version 1|2 and 3");
  kr_expect_refused(patched(4, "\4\0\0\0", 4), KR_E_UNSUPPORTED, "version 4");
  kr_expect_refused(patched(4, "\xff\xff\xff\xff", 4), KR_E_UNSUPPORTED, "version 4294967295");
}

static void test_counts(void) {
  static const uint64_t counts[] = {UINT64_MAX, UINT64_C(1) << 63, UINT64_C(768614336404564651),
                                    UINT64_C(50127021939428130), 1000};
  for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
    kr_made made;
    gchar *words = g_strdup_printf("count of keys is %" G_GUINT64_FORMAT, counts[i]);
    kr_made_begin(&made, 3);
    kr_made_u32(&made, "a", 1);
    made.n_keys = counts[i];
    kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, words);
    g_free(words);
    words = g_strdup_printf("count of tensors is %" G_GUINT64_FORMAT, counts[i]);
    kr_made_begin(&made, 3);
    kr_made_f32(&made, "w", 16, 0);
    made.n_tensors = counts[i];
    kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, words);
    g_free(words);
  }
}

static void test_offsets(void) {
  static const struct {
    uint64_t offset;
    const char *words;
  } cases[] = {{16, "'b'|offset 16|alignment, 32"},
               {1 << 20, "incomplete: need|'b'|offset 1048576"},
               {UINT64_MAX - 31, "incomplete: need|'b'"},
               {UINT64_MAX - 63, "incomplete: need|'b'"},
               {UINT64_C(1) << 63, "incomplete: need|'b'"},
               {32, "overlap|'a'|'b'"},
               {0, "overlap|'a'|'b'"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    kr_made made;
    kr_made_begin(&made, 3);
    kr_made_f32(&made, "a", 16, 0);
    kr_made_entry(&made, "b", 1, (uint64_t[]){4}, KR_TYPE_F32, cases[i].offset);
    kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, cases[i].words);
  }
  kr_made made; /* the overlap of tensors that do not stand in the order of their entries */
  kr_made_begin(&made, 3);
  kr_made_entry(&made, "c", 1, (uint64_t[]){8}, KR_TYPE_F32, 64);
  kr_made_entry(&made, "a", 1, (uint64_t[]){17}, KR_TYPE_F32, 0);
  for (int i = 0; i < 96; i++) kr_put_u8(made.data, 0);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "overlap|'a'|'c'");
}

static void test_types(void) {
  static const struct {
    uint32_t type;
    const char *words;
  } cases[] = {{4, "type 4 (Q4_2) was removed"},
               {33, "type 33 (Q4_0_8_8) was removed"},
               {1000, "type 1000 is unknown"},
               {UINT32_MAX, "type 4294967295 is unknown"}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    kr_made made;
    kr_made_begin(&made, 3);
    kr_made_entry(&made, "w", 1, (uint64_t[]){32}, cases[i].type, 0);
    kr_expect_refused(kr_made_end(&made), KR_E_UNSUPPORTED, cases[i].words);
  }
  kr_made made;
  kr_made_begin(&made, 3);
  kr_made_key(&made, "k", 13);
  kr_put_u64(made.keys, 0);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "key 'k'|unknown type 13");
  kr_made_begin(&made, 3);
  kr_made_key(&made, "k", KR_VALUE_BOOL);
  kr_put_u8(made.keys, 2);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "key 'k'|bool|is 2");
}

/* Arrays in arrays: four deep is read, deeper is refused however deep it claims to be. */
static void nest(kr_made *made, int depth) {
  kr_made_begin(made, 3);
  kr_made_array(made, "deep", depth > 1 ? KR_VALUE_ARRAY : KR_VALUE_U8, depth > 1);
  for (int i = 2; i <= depth; i++) {
    kr_put_u32(made->keys, i < depth ? KR_VALUE_ARRAY : KR_VALUE_U8);
    kr_put_u64(made->keys, i < depth);
  }
}

static void test_nesting(void) {
  kr_made made;
  for (int depth = 1; depth <= 4; depth++) {
    nest(&made, depth);
    GBytes *bytes = kr_made_end(&made);
    gsize size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    kr_source *source = NULL;
    kr_error err = {0};
    g_assert_cmpint(kr_source_open_bytes("made.gguf", data, size, &source, &err), ==, KR_OK);
    kr_source_close(source);
    g_bytes_unref(bytes);
  }
  nest(&made, 5);
  kr_expect_refused(kr_made_end(&made), KR_E_UNSUPPORTED, "'deep'|nested more than 4 deep");
  nest(&made, 100000);
  kr_expect_refused(kr_made_end(&made), KR_E_UNSUPPORTED, "'deep'|nested more than 4 deep");
}

/* Names that would fool a terminal, a printf or a fixed buffer. */
static void test_names(void) {
  kr_made made;
  kr_made_begin(&made, 3);
  kr_made_key(&made, "\x1b[31m%s%n\xff\xe2\x80\xae", 99);
  kr_put_u64(made.keys, 0);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "\\x1b[31m%s%n\\xff\\xe2\\x80\\xae|type 99");
  gchar *name = g_strnfill(70000, 'n');
  kr_made_begin(&made, 3);
  kr_made_u32(&made, name, 1);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "key 1 of 1|length of 70000|65535");
  kr_made_begin(&made, 3);
  kr_made_f32(&made, name, 4, 0);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "tensor 1 of 1|length of 70000|65535");
  g_free(name);
  kr_made_begin(&made, 3);
  kr_made_f32(&made, "", 4, 0);
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT, "tensor 1 of 1|length of 0");
}

/* Two of 200000 names are the same: comparing all pairs would take minutes. */
static void test_duplicates(void) {
  kr_made made;
  kr_made_begin(&made, 3);
  for (int i = 0; i < 200000; i++) {
    gchar *key = g_strdup_printf("key.%06d", i == 199999 ? 7 : i);
    kr_made_u16(&made, key, 0);
    g_free(key);
  }
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT,
                    "duplicate key 'key.000007'|entries 8 and 200000");
  kr_made_begin(&made, 3);
  for (int i = 0; i < 200000; i++) {
    gchar *name = g_strdup_printf("tensor.%06d", i == 199999 ? 7 : i);
    kr_made_f32(&made, name, 8, 0);
    g_free(name);
  }
  kr_expect_refused(kr_made_end(&made), KR_E_FORMAT,
                    "duplicate tensor name 'tensor.000007'|entries 8 and 200000");
}

static void test_foreign(void) {
  static const struct {
    const char *bytes;
    size_t n;
    const char *words;
  } cases[] = {
      {"", 0, "the file is empty"},
      {"G", 1, "truncated"},
      {"GGUF", 4, "truncated|4 bytes"},
      {"x", 1, "not a GGUF file|'x' (78)"},
      {"gguf\3\0\0\0", 8, "not a GGUF file|'gguf' (67 67 75 66)|'GGUF'"},
      {"GGML\1\0\0\0", 8, "not a GGUF file|old GGML file|convert"},
      {"tjgg\1\0\0\0", 8, "not a GGUF file|old GGJT file|convert"},
      {"\x89PNG\r\n\x1a\n", 8, "not a GGUF file|PNG image"},
      {"<!DOCTYPE html><html>404</html>", 31, "not a GGUF file|HTML"},
      {"\r\n  <html>", 10, "not a GGUF file|HTML"},
      {"version https://git-lfs.github.com/spec/v1\n", 43, "not a GGUF file|Git LFS pointer"},
      {"PK\3\4....", 8, "not a GGUF file|ZIP"},
      {"{\"error\":\"gated\"}", 17, "not a GGUF file|JSON"},
      {"\x02\0\0\0\0\0\0\0{}", 10, "not a GGUF file|safetensors"},
      {"\0\0\0\0\0\0\0\0", 8, "not a GGUF file|zero bytes"},
      {"\xff\xfe\x1b\x07zzz", 7, "not a GGUF file|(ff fe 1b 07)|\\xff\\xfe\\x1b\\x07"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    int code = strstr(cases[i].words, "safetensors") ? KR_E_UNSUPPORTED : KR_E_FORMAT;
    kr_expect_refused(g_bytes_new_static(cases[i].bytes, cases[i].n), code, cases[i].words);
  }
}

static void refuse_path(const char *path, const char *start, const char *words) {
  kr_source *source = NULL;
  kr_error err = {0};
  g_assert_cmpint(kr_source_open(path, &source, &err), ==, KR_E_IO);
  g_assert_null(source);
  kr_expect_words(&err, start, words);
}

static void test_paths(void) {
  refuse_path("/nonexistent/model.gguf", "/nonexistent/model.gguf: ", "cannot be opened");
  refuse_path("/", "/: ", "directory");
  refuse_path("/dev/null", "/dev/null: ", "not a regular file");
  gchar *fill = g_strnfill(3000, '/');
  gchar *path = g_strconcat(fill, "nonexistent/model-\x1b.gguf", NULL);
  refuse_path(path, "...///", "/nonexistent/model-\\x1b.gguf: cannot be opened");
  g_free(path);
  g_free(fill);
  fill = g_strnfill(300, (gchar)0xff); /* shows as four characters a byte */
  path = g_strconcat("/nonexistent/", fill, NULL);
  refuse_path(path, "...", "\\xff\\xff: cannot be opened");
  g_free(path);
  g_free(fill);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cases/c12-empty-key", test_c12_empty_key);
  g_test_add_func("/cases/c13-dims-wrap", test_c13_dims_wrap);
  g_test_add_func("/cases/c15-lengths", test_c15_lengths);
  g_test_add_func("/cases/c16-alignment", test_c16_alignment);
  g_test_add_func("/cases/c18-scores-types", test_c18_scores_types);
  g_test_add_func("/cases/c19-duplicate-tokens", test_c19_duplicate_tokens);
  g_test_add_func("/cases/c21-incomplete", test_c21_incomplete);
  g_test_add_func("/cases/c22-byte-order", test_c22_byte_order);
  g_test_add_func("/cases/versions", test_versions);
  g_test_add_func("/cases/counts", test_counts);
  g_test_add_func("/cases/offsets", test_offsets);
  g_test_add_func("/cases/types", test_types);
  g_test_add_func("/cases/nesting", test_nesting);
  g_test_add_func("/cases/names", test_names);
  g_test_add_func("/cases/duplicates", test_duplicates);
  g_test_add_func("/cases/foreign", test_foreign);
  g_test_add_func("/cases/paths", test_paths);
  return g_test_run();
}
