/* Replacement of invalid UTF-8, and NFC: literal examples, and random text against GLib's. */
#include "text/normalize.h"
#include <glib.h>
#include <string.h>

static char *apply(int (*function)(const char *, size_t, kr_bytes *, const char **, size_t *,
                                   kr_error *),
                   const char *text, size_t n) {
  kr_bytes out = {0};
  const char *result;
  size_t length;
  g_assert_cmpint(function(text, n, &out, &result, &length, NULL), ==, KR_OK);
  char *copy = g_strndup(result, length);
  kr_array_free(out.data);
  return copy;
}

static void test_clean(void) {
#define U "\xef\xbf\xbd"
  static const char *const examples[][2] = {
      {"plain é 🐱", "plain é 🐱"},
      {"\xff", U},
      {"a\x80z", "a" U "z"},
      {"\xed\xa0\x80", U U U},
      {"\xf0\x80\x80"
       "A",
       U U U "A"},
      {"\xe2\x80"
       "A",
       U "A"},
      {"\xf0\x9f\x90", U},
      {"\xf4\x90\x80\x80", U U U U},
      {"\xc0\xaf", U U},
      {"\xf0\x9f\x90\xb1\xf0\x9f", "\xf0\x9f\x90\xb1" U},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
    char *clean = apply(kr_text_clean, examples[i][0], strlen(examples[i][0]));
    g_assert_cmpstr(clean, ==, examples[i][1]);
    g_free(clean);
  }
}

static void test_examples(void) {
  static const char *const examples[][2] = {
      {"cafe\xcc\x81", "café"},
      {"ASCII only", "ASCII only"},
      {"\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab", "한"}, /* jamo */
      {"\xed\x95\x98\xe1\x86\xab", "한"},             /* LV and T */
      {"q\xcc\xa3\xcc\x87", "q\xcc\xa3\xcc\x87"},     /* no composition */
      {"q\xcc\x87\xcc\xa3", "q\xcc\xa3\xcc\x87"},     /* order */
      {"a\xcc\xa3\xcc\x81", "\xe1\xba\xa1\xcc\x81"},  /* first with the nearer */
      {"\xe0\xa5\x98", "\xe0\xa4\x95\xe0\xa4\xbc"},   /* excluded from composition */
      {"\xe2\x84\xab", "Å"},                          /* singleton */
      {"\xe2\x84\xa6\xcc\x81", "Ώ"},
      {"\xe0\xa7\x87\xe0\xa6\xbe", "\xe0\xa7\x8b"}, /* two starters compose */
  };
  for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
    char *text = apply(kr_text_nfc, examples[i][0], strlen(examples[i][0]));
    g_assert_cmpstr(text, ==, examples[i][1]);
    g_free(text);
  }
}

/* Blocks whose data has not changed since Unicode 9. */
static gunichar draw(void) {
  switch (g_test_rand_int_range(0, 8)) {
  case 0:
  case 1:
    return (gunichar)g_test_rand_int_range(0x300, 0x34f); /* marks */
  case 2:
    return (gunichar)g_test_rand_int_range(0xc0, 0x180);
  case 3:
    return (gunichar)g_test_rand_int_range(0x1e00, 0x1f00);
  case 4:
    return (gunichar)g_test_rand_int_range(0x1100, 0x1113);
  case 5:
    return (gunichar)g_test_rand_int_range(0x1161, 0x11c3);
  case 6:
    return (gunichar)g_test_rand_int_range(0xac00, 0xd7a4);
  default:
    return (gunichar)g_test_rand_int_range('A', 'z');
  }
}

static void check(GString *text) {
  char *want = g_utf8_normalize(text->str, (gssize)text->len, G_NORMALIZE_NFC);
  char *got = apply(kr_text_nfc, text->str, text->len);
  g_assert_cmpstr(got, ==, want);
  g_free(want);
  g_free(got);
}

static void test_random(void) {
  for (int round = 0; round < 20000; round++) {
    GString *text = g_string_new(NULL);
    for (int i = g_test_rand_int_range(1, 12); i > 0; i--) g_string_append_unichar(text, draw());
    check(text);
    g_string_free(text, TRUE);
  }
}

/* Marks without end are sorted another way. */
static void test_long(void) {
  GString *text = g_string_new("x");
  for (int i = 0; i < 2000; i++)
    g_string_append_unichar(text, (gunichar)g_test_rand_int_range(0x300, 0x34f));
  check(text);
  g_string_free(text, TRUE);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/normalize/clean", test_clean);
  g_test_add_func("/normalize/nfc-examples", test_examples);
  g_test_add_func("/normalize/nfc-random", test_random);
  g_test_add_func("/normalize/nfc-long", test_long);
  return g_test_run();
}
