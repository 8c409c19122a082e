/* Good GGUF files: every value and tensor comes out as it was put in, in order and by name. */
#include "gguf_bytes.h"
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static kr_source *open_bytes(GBytes *bytes, kr_guarded *file) {
  kr_guarded_set(file, g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
  kr_source *source = NULL;
  kr_error err = {0};
  if (kr_source_open_bytes("made.gguf", file->data, file->size, &source, &err))
    g_error("%s", err.message);
  g_bytes_unref(bytes);
  return source;
}

static void close_bytes(kr_source *source, kr_guarded *file) {
  kr_source_close(source);
  kr_guarded_clear(file);
}

static void assert_text(kr_text text, const char *expected) {
  g_assert_cmpmem(text.data, text.n, expected, strlen(expected));
}

static void test_sample(gconstpointer version) {
  kr_guarded file;
  kr_source *source = open_bytes(kr_made_sample(GPOINTER_TO_UINT(version)), &file);
  static const char *const keys[] = {"general.architecture",
                                     "llama.block_count",
                                     "split.count",
                                     "a.bool",
                                     "a.f32",
                                     "a.i64",
                                     "a.tokens",
                                     "a.nested",
                                     "a.flags",
                                     "general.alignment"};
  g_assert_cmpstr(kr_source_path(source), ==, "made.gguf");
  g_assert_cmpuint(kr_source_n_values(source), ==, G_N_ELEMENTS(keys));
  for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
    assert_text(kr_source_value(source, i)->key, keys[i]);
    g_assert_true(kr_source_get(source, keys[i]) == kr_source_value(source, i));
  }
  g_assert_null(kr_source_get(source, "a.toke"));
  g_assert_null(kr_source_get(source, ""));
  g_assert_null(kr_source_tensor(source, "last"));

  static const char *const names[] = {"norm.weight", "q.weight", "last.weight"};
  g_assert_cmpuint(kr_source_n_tensors(source), ==, 3);
  for (size_t i = 0; i < 3; i++) {
    assert_text(kr_source_tensor_at(source, i)->name, names[i]);
    g_assert_true(kr_source_tensor(source, names[i]) == kr_source_tensor_at(source, i));
  }
  const kr_tensor *q = kr_source_tensor(source, "q.weight");
  g_assert_cmpuint(q->type, ==, KR_TYPE_Q8_0);
  g_assert_cmpint(q->n_dims, ==, 2);
  g_assert_true(q->dims[0] == 32 && q->dims[1] == 2 && q->dims[2] == 1 && q->dims[3] == 1);
  g_assert_cmpuint(q->bytes, ==, 68);
  for (int i = 0; i < 68; i++) g_assert_cmpuint(q->data[i], ==, (uint8_t)(i * 7));
  const kr_tensor *last = kr_source_tensor(source, "last.weight");
  g_assert_cmpuint(last->bytes, ==, 12);
  g_assert_cmpmem(last->data, 12, ((float[]){9, 10, 11}), 12);
  g_assert_true(last->data + last->bytes == file.data + file.size);
  close_bytes(source, &file);
}

/* Elements of each type at their extremes, as integers and as floats. */
static void test_numbers(void) {
  static const struct {
    kr_value_type type;
    int bytes;
    uint64_t bits;
    int64_t as_int;
    double as_float;
  } cases[] = {
      {KR_VALUE_U8, 1, 0xff, 255, 255},
      {KR_VALUE_I8, 1, 0x80, -128, -128},
      {KR_VALUE_U16, 2, 0xfffe, 65534, 65534},
      {KR_VALUE_I16, 2, 0x8000, -32768, -32768},
      {KR_VALUE_U32, 4, 0xffffffff, 4294967295, 4294967295},
      {KR_VALUE_I32, 4, 0x80000000, INT32_MIN, INT32_MIN},
      {KR_VALUE_F32, 4, 0x40490fdb, 3, 0x1.921fb6p+1},
      {KR_VALUE_F32, 4, 0x7f800000, INT64_MAX, INFINITY},
      {KR_VALUE_F32, 4, 0xff800000, INT64_MIN, -INFINITY},
      {KR_VALUE_BOOL, 1, 1, 1, 1},
      {KR_VALUE_U64, 8, UINT64_MAX, INT64_MAX, 0x1p64},
      {KR_VALUE_I64, 8, (uint64_t)1 << 63, INT64_MIN, -0x1p63},
      {KR_VALUE_F64, 8, UINT64_C(0xbff8000000000000), -1, -1.5},
      {KR_VALUE_F64, 8, UINT64_C(0x43e0000000000000), INT64_MAX, 0x1p63},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    kr_made made;
    kr_made_begin(&made, 3);
    kr_made_array(&made, "k", cases[i].type, 2);
    for (int b = 0; b < cases[i].bytes; b++) kr_put_u8(made.keys, 0); /* so that i = 1 counts */
    for (int b = 0; b < cases[i].bytes; b++)
      kr_put_u8(made.keys, (uint8_t)(cases[i].bits >> 8 * b));
    kr_guarded file;
    kr_source *source = open_bytes(kr_made_end(&made), &file);
    const kr_value *value = kr_source_get(source, "k");
    g_assert_cmpuint(value->n, ==, 2);
    g_assert_cmpuint(value->bytes, ==, (size_t)(2 * cases[i].bytes));
    g_assert_cmpint(kr_value_int(value, 0), ==, 0);
    g_assert_cmpint(kr_value_int(value, 1), ==, cases[i].as_int);
    g_assert_true(kr_value_float(value, 1) == cases[i].as_float);
    close_bytes(source, &file);
  }
}

static void test_strings(void) {
  kr_guarded file;
  kr_source *source = open_bytes(kr_made_sample(3), &file);
  static const char *const expected[] = {"a", "", "bc"};
  const kr_value *tokens = NULL;
  kr_error err = {0};
  g_assert_cmpint(kr_source_array(source, "a.tokens", 1u << KR_VALUE_STRING, &tokens, &err), ==, 0);
  size_t at = 0, n = 0;
  kr_text text;
  for (; kr_value_next(tokens, &at, &text); n++) assert_text(text, expected[n]);
  g_assert_cmpuint(n, ==, 3);
  g_assert_false(kr_value_next(tokens, &at, &text));
  at = 0;
  g_assert_false(kr_value_next(kr_source_get(source, "a.flags"), &at, &text));
  g_assert_false(kr_value_next(kr_source_get(source, "general.architecture"), &at, &text));
  const kr_value *nested = kr_source_get(source, "a.nested");
  g_assert_cmpuint(nested->element, ==, KR_VALUE_ARRAY);
  g_assert_cmpuint(nested->n, ==, 2);
  g_assert_cmpuint(nested->bytes, ==, 12 + 2 + 12 + 9);
  close_bytes(source, &file);
}

static void test_typed(void) {
  kr_guarded file;
  kr_source *source = open_bytes(kr_made_sample(3), &file);
  kr_error err = {0};
  int64_t i = 77;
  double f = 7.5;
  bool b = false;
  kr_text text = {"none", 4};
  const kr_value *array = kr_source_get(source, "a.bool");
  g_assert_cmpint(kr_source_int(source, "no.key", 0, 1, &i, &err), ==, KR_OK);
  g_assert_cmpint(kr_source_float(source, "no.key", &f, &err), ==, KR_OK);
  g_assert_cmpint(kr_source_bool(source, "no.key", &b, &err), ==, KR_OK);
  g_assert_cmpint(kr_source_string(source, "no.key", &text, &err), ==, KR_OK);
  g_assert_true(i == 77 && f == 7.5 && !b && text.n == 4);
  g_assert_cmpint(kr_source_array(source, "no.key", 1, &array, &err), ==, KR_OK);
  g_assert_null(array);

  g_assert_cmpint(kr_source_int(source, "a.i64", -5, 9, &i, &err), ==, KR_OK);
  g_assert_cmpint(i, ==, -5);
  g_assert_cmpint(kr_source_float(source, "a.i64", &f, &err), ==, KR_OK);
  g_assert_cmpfloat(f, ==, -5);
  g_assert_cmpint(kr_source_float(source, "a.f32", &f, &err), ==, KR_OK);
  g_assert_cmpfloat(f, ==, 0.5);
  g_assert_cmpint(kr_source_bool(source, "a.bool", &b, &err), ==, KR_OK);
  g_assert_true(b);
  g_assert_cmpint(kr_source_string(source, "general.architecture", &text, &err), ==, KR_OK);
  assert_text(text, "llama");
  uint32_t mask = 1u << KR_VALUE_I32 | 1u << KR_VALUE_BOOL;
  g_assert_cmpint(kr_source_array(source, "a.flags", mask, &array, &err), ==, KR_OK);
  g_assert_true(array == kr_source_get(source, "a.flags"));
  close_bytes(source, &file);
}

static void test_typed_failures(void) {
  kr_guarded file;
  kr_made made;
  kr_made_begin(&made, 3);
  kr_made_u32(&made, "u32", 513);
  kr_made_string(&made, "string", "x\x1b[31m");
  kr_made_key(&made, "u64", KR_VALUE_U64);
  kr_put_u64(made.keys, UINT64_MAX);
  kr_made_key(&made, "nan", KR_VALUE_F32);
  kr_put_u32(made.keys, 0x7fc00000);
  kr_made_array(&made, "array", KR_VALUE_U8, 0);
  kr_source *source = open_bytes(kr_made_end(&made), &file);
  kr_error err = {0};
  int64_t i = 77;
  double f = 7.5;
  bool b = false;
  kr_text text = {0};
  const kr_value *array = NULL;
  const char *start = "made.gguf: key '";
  g_assert_cmpint(kr_source_int(source, "u32", 1, 512, &i, &err), ==, KR_E_FORMAT);
  kr_expect_words(&err, start, "'u32' is 513|1 to 512");
  g_assert_cmpint(kr_source_int(source, "u64", 1, INT64_MAX, &i, &err), ==, KR_E_FORMAT);
  kr_expect_words(&err, start, "'u64' is 18446744073709551615");
  g_assert_cmpint(kr_source_int(source, "nan", 1, 2, &i, &err), ==, KR_E_FORMAT);
  kr_expect_words(&err, start, "'nan' has the type f32|expected an integer");
  g_assert_cmpint(kr_source_int(source, "array", 1, 2, &i, &err), ==, KR_E_FORMAT);
  kr_expect_words(&err, start, "an array of u8");
  g_assert_cmpint(kr_source_float(source, "nan", &f, &err), ==, KR_E_FORMAT);
  kr_expect_words(&err, start, "'nan' is NaN");
  g_assert_cmpint(kr_source_float(source, "string", &f, &err), ==, KR_E_FORMAT);
  g_assert_cmpint(kr_source_bool(source, "u32", &b, &err), ==, KR_E_FORMAT);
  kr_expect_words(&err, start, "'u32' has the type u32|expected a bool");
  g_assert_cmpint(kr_source_string(source, "u32", &text, &err), ==, KR_E_FORMAT);
  uint32_t mask = 1u << KR_VALUE_STRING | 1u << KR_VALUE_F32;
  g_assert_cmpint(kr_source_array(source, "array", mask, &array, &err), ==, KR_E_FORMAT);
  kr_expect_words(&err, start, "an array of u8, expected an array of f32 or string");
  g_assert_cmpint(kr_source_array(source, "string", mask, &array, NULL), ==, KR_E_FORMAT);
  g_assert_true(i == 77 && f == 7.5 && !b && !text.data && !array);
  close_bytes(source, &file);
}

/* Tensors may stand in any order, with gaps, with other alignments, and with bytes behind them. */
static void test_layouts(void) {
  for (uint64_t alignment = 8; alignment <= 65536; alignment *= 2) {
    kr_made made;
    kr_made_begin(&made, 3);
    made.alignment = alignment;
    kr_made_u32(&made, "general.alignment", (uint32_t)alignment);
    kr_made_entry(&made, "second", 1, (uint64_t[]){2}, KR_TYPE_F32, 2 * alignment);
    kr_made_entry(&made, "first", 4, (uint64_t[]){1, 2, 1, 1}, KR_TYPE_F32, 0);
    for (uint64_t i = 0; i < alignment / 2 + 8; i++) kr_put_f32(made.data, (float)i);
    kr_guarded file;
    kr_source *source = open_bytes(kr_made_end(&made), &file);
    const kr_tensor *first = kr_source_tensor(source, "first"),
                    *second = kr_source_tensor(source, "second");
    float at = (float)(alignment / 2);
    g_assert_cmpmem(first->data, first->bytes, ((float[]){0, 1}), 8);
    g_assert_cmpmem(second->data, second->bytes, ((float[]){at, at + 1}), 8);
    g_assert_cmpint(first->n_dims, ==, 4);
    close_bytes(source, &file);
  }
}

static void test_empty(void) {
  kr_made made;
  kr_made_begin(&made, 3); /* a tokenizer alone has no tensors; without keys it is still GGUF */
  kr_guarded file;
  kr_source *source = open_bytes(kr_made_end(&made), &file);
  g_assert_cmpuint(kr_source_n_values(source) + kr_source_n_tensors(source), ==, 0);
  g_assert_null(kr_source_get(source, "general.architecture"));
  g_assert_null(kr_source_tensor(source, "x"));
  close_bytes(source, &file);
}

/* A released tensor can be read again. */
static void test_release(void) {
  kr_made made;
  kr_made_begin(&made, 3);
  kr_made_f32(&made, "big", 100000, 3.0f);
  GBytes *bytes = kr_made_end(&made);
  gchar *path = NULL;
  GError *error = NULL;
  int fd = g_file_open_tmp("krafla-XXXXXX.gguf", &path, &error);
  g_assert_no_error(error);
  g_assert_true(g_close(fd, NULL));
  g_file_set_contents(path, g_bytes_get_data(bytes, NULL), (gssize)g_bytes_get_size(bytes), &error);
  g_assert_no_error(error);
  kr_source *source = NULL;
  kr_error err = {0};
  g_assert_cmpint(kr_source_open(path, &source, &err), ==, KR_OK);
  g_assert_cmpstr(kr_source_path(source), ==, path);
  const kr_tensor *big = kr_source_tensor(source, "big");
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 100000; i++) {
      float value;
      memcpy(&value, big->data + 4 * i, 4);
      g_assert_true(value == 3.0f + (float)i);
    }
    kr_source_release(source, big);
  }
  kr_source_close(source);
  kr_source_close(NULL);
  g_assert_cmpint(g_unlink(path), ==, 0);
  g_free(path);
  g_bytes_unref(bytes);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/valid/version-2", GUINT_TO_POINTER(2), test_sample);
  g_test_add_data_func("/valid/version-3", GUINT_TO_POINTER(3), test_sample);
  g_test_add_func("/valid/numbers", test_numbers);
  g_test_add_func("/valid/strings", test_strings);
  g_test_add_func("/valid/typed", test_typed);
  g_test_add_func("/valid/typed-failures", test_typed_failures);
  g_test_add_func("/valid/layouts", test_layouts);
  g_test_add_func("/valid/empty", test_empty);
  g_test_add_func("/valid/release", test_release);
  return g_test_run();
}
