/* Damage to a good GGUF file: cut at every byte, every value of every byte of its directory, random
 * damage. Whatever is opened must keep what source.h promises; the bytes stand before a page that
 * may not be touched. */
#include "gguf_bytes.h"
#include "walk.h"
#include <string.h>

static bool inside(const kr_guarded *file, const void *data, size_t n) {
  const uint8_t *p = data;
  return p >= file->data && p <= file->data + file->size &&
         n <= (size_t)(file->data + file->size - p);
}

static bool same(kr_text a, kr_text b) {
  return a.n == b.n && !memcmp(a.data, b.data, a.n);
}

static void check_values(const kr_source *source, const kr_guarded *file) {
  for (size_t i = 0; i < kr_source_n_values(source); i++) {
    const kr_value *value = kr_source_value(source, i);
    g_assert_true(value->key.n > 0 && inside(file, value->key.data, value->key.n));
    g_assert_true(inside(file, value->data, value->bytes));
    for (size_t j = 0; j < i; j++)
      g_assert_false(same(value->key, kr_source_value(source, j)->key));
    uint64_t strings = 0;
    size_t at = 0;
    kr_text text;
    if (value->type != KR_VALUE_ARRAY || value->element != KR_VALUE_STRING) continue;
    for (; kr_value_next(value, &at, &text); strings++)
      g_assert_true(inside(file, text.data, text.n));
    g_assert_cmpuint(strings, ==, value->n);
    g_assert_cmpuint(at, ==, value->bytes);
  }
}

static void check_tensors(const kr_source *source, const kr_guarded *file) {
  for (size_t i = 0; i < kr_source_n_tensors(source); i++) {
    const kr_tensor *t = kr_source_tensor_at(source, i);
    const kr_type_info *type = kr_type_get(t->type);
    g_assert_nonnull(type);
    g_assert_true(t->n_dims >= 1 && t->n_dims <= 4);
    uint64_t values = 1, bytes; /* in 64 bits on every machine */
    for (int d = 0; d < 4; d++) {
      g_assert_true(t->dims[d] >= 1 && (d < t->n_dims || t->dims[d] == 1));
      g_assert_false(__builtin_mul_overflow(values, (uint64_t)t->dims[d], &values));
    }
    g_assert_true(t->dims[0] % type->block == 0);
    values /= (unsigned)type->block;
    g_assert_false(__builtin_mul_overflow(values, (unsigned)type->bytes, &bytes));
    g_assert_cmpuint(bytes, ==, t->bytes);
    g_assert_true(inside(file, t->data, t->bytes));
    for (size_t j = 0; j < i; j++) {
      const kr_tensor *other = kr_source_tensor_at(source, j);
      g_assert_false(same(t->name, other->name));
      g_assert_true(t->data + t->bytes <= other->data || other->data + other->bytes <= t->data);
    }
    (void)kr_walk_tensor(t);
  }
}

/* Opens the bytes; true when they were taken. */
static bool open_checked(const kr_guarded *file) {
  kr_source *source = NULL;
  kr_error err = {0};
  int code = kr_source_open_bytes("made.gguf", file->data, file->size, &source, &err);
  if (code) {
    g_assert_null(source);
    g_assert_true(code == KR_E_FORMAT || code == KR_E_UNSUPPORTED);
    g_assert_cmpint(err.code, ==, code);
    g_assert_true(g_str_has_prefix(err.message, "made.gguf: "));
    g_assert_true(g_utf8_validate(err.message, -1, NULL));
    for (const char *c = err.message; *c; c++)
      g_assert_true((unsigned char)*c >= 0x20 && *c != 0x7f);
    return false;
  }
  static unsigned opened; /* the walk formats many messages: now and then is enough */
  check_values(source, file);
  check_tensors(source, file);
  if (opened++ % 16 == 0) (void)kr_walk_values(source);
  kr_source_close(source);
  return true;
}

/* The sample's last tensor ends with the file, so that no shorter file is whole. */
static void test_truncated(gconstpointer version) {
  GBytes *bytes = kr_made_sample(GPOINTER_TO_UINT(version));
  size_t size = g_bytes_get_size(bytes);
  for (size_t n = 0; n <= size; n++) {
    kr_guarded file;
    kr_guarded_set(&file, g_bytes_get_data(bytes, NULL), n);
    g_assert_cmpint(open_checked(&file), ==, n == size);
    kr_guarded_clear(&file);
  }
  g_bytes_unref(bytes);
}

static void test_every_byte(void) {
  GBytes *bytes = kr_made_sample(3);
  kr_guarded file;
  kr_guarded_set(&file, g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
  size_t taken = 0, all = 0;
  for (size_t at = 0; at < file.size; at++) {
    uint8_t good = file.data[at];
    for (unsigned x = 0; x < 256; x++, all++) {
      file.data[at] = (uint8_t)x;
      taken += open_checked(&file);
    }
    file.data[at] = good;
  }
  g_test_message("%zu of %zu single-byte changes were taken", taken, all);
  g_assert_true(taken >= file.size && taken < all); /* each good byte is one of the 256 */
  kr_guarded_clear(&file);
  g_bytes_unref(bytes);
}

/* Numbers that break arithmetic, over every place where they fit. */
static void test_extreme_words(void) {
  static const uint64_t words[] = {0,
                                   1,
                                   UINT64_MAX,
                                   INT64_MAX,
                                   (uint64_t)INT64_MAX + 1,
                                   UINT32_MAX,
                                   (uint64_t)1 << 32,
                                   (uint64_t)1 << 61,
                                   ((uint64_t)1 << 61) + 1,
                                   (uint64_t)1 << 60,
                                   UINT64_MAX - 7,
                                   UINT64_MAX - 31,
                                   UINT64_MAX / 34 + 1,
                                   UINT64_MAX / 4 + 1};
  GBytes *bytes = kr_made_sample(3);
  kr_guarded file;
  kr_guarded_set(&file, g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
  for (size_t at = 0; at + 8 <= file.size; at++)
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
      for (int size = 4; size <= 8; size += 4) {
        uint8_t good[8];
        memcpy(good, file.data + at, 8);
        for (int b = 0; b < size; b++) file.data[at + b] = (uint8_t)(words[i] >> 8 * b);
        (void)open_checked(&file);
        memcpy(file.data + at, good, 8);
      }
  kr_guarded_clear(&file);
  g_bytes_unref(bytes);
}

/* Random damage: bytes changed, stretches moved, the file cut. --seed repeats a run. */
static void test_random(void) {
  GBytes *bytes = kr_made_sample(3);
  size_t size = g_bytes_get_size(bytes);
  for (int i = 0; i < 20000; i++) {
    kr_guarded file;
    size_t n = g_test_rand_bit() ? size : (size_t)g_test_rand_int_range(0, (gint32)size);
    kr_guarded_set(&file, g_bytes_get_data(bytes, NULL), n);
    for (int changes = g_test_rand_int_range(1, 6); changes && n >= 16; changes--) {
      size_t at = (size_t)g_test_rand_int_range(0, (gint32)n);
      size_t from = (size_t)g_test_rand_int_range(0, (gint32)n - 8);
      if (g_test_rand_bit())
        file.data[at] = (uint8_t)g_test_rand_int();
      else if (at + 8 <= n)
        memmove(file.data + at, file.data + from, 8);
    }
    (void)open_checked(&file);
    kr_guarded_clear(&file);
  }
  g_bytes_unref(bytes);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_data_func("/damaged/truncated-v2", GUINT_TO_POINTER(2), test_truncated);
  g_test_add_data_func("/damaged/truncated-v3", GUINT_TO_POINTER(3), test_truncated);
  g_test_add_func("/damaged/every-byte", test_every_byte);
  g_test_add_func("/damaged/extreme-words", test_extreme_words);
  g_test_add_func("/damaged/random", test_random);
  return g_test_run();
}
