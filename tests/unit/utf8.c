/* UTF-8: every code point there and back, and invalid bytes by maximal subparts. */
#include "base/utf8.h"
#include <glib.h>
#include <string.h>

static void test_all_code_points(void) {
  for (uint32_t c = 0; c <= 0x10ffff; c++) {
    if (c >= 0xd800 && c < 0xe000) continue;
    char ours[4], theirs[6];
    size_t n = kr_utf8_put(c, ours);
    g_assert_cmpint((int)n, ==, g_unichar_to_utf8(c, theirs));
    g_assert_true(!memcmp(ours, theirs, n));
    uint32_t back;
    g_assert_cmpuint(kr_utf8_next((const uint8_t *)ours, n, &back), ==, n);
    g_assert_cmpuint(back, ==, c);
    /* cut short: what is there is one maximal subpart */
    for (size_t k = 1; k < n; k++) {
      g_assert_cmpuint(kr_utf8_next((const uint8_t *)ours, k, &back), ==, k);
      g_assert_cmpuint(back, ==, KR_UTF8_INVALID);
    }
  }
}

/* From Unicode 16, table 3-8 and the text around it; lengths taken one after the other. */
static void test_subparts(void) {
  static const struct {
    const char *bytes, *lengths; /* lower case: invalid; upper case: a code point. a is 1 */
  } cases[] = {
      {"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", "aaaaaaaaA"},
      {"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", "aaaaaaaaA"},
      {"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", "aaaaaAaaA"},
      {"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "bacbA"},
      {"\xf0\x80\x80\x41", "aaaA"},
      {"\xe2\x80\x41", "bA"},
      {"\xf0\x9f\x98\x8a\xf0\x9f\x98", "Dc"},
      {"\xf5\x80\xfe\x80", "aaaa"},
      {"\xc3\xc3\xa9", "aB"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    const uint8_t *s = (const uint8_t *)cases[i].bytes;
    size_t n = strlen(cases[i].bytes), at = 0;
    for (const char *want = cases[i].lengths; *want; want++) {
      uint32_t c;
      g_assert_cmpuint(at, <, n);
      size_t length = kr_utf8_next(s + at, n - at, &c);
      gboolean valid = g_ascii_isupper(*want);
      g_assert_cmpuint(length, ==, (size_t)(*want - (valid ? 'A' : 'a') + 1));
      g_assert_true((c != KR_UTF8_INVALID) == valid);
      at += length;
    }
    g_assert_cmpuint(at, ==, n);
  }
}

/* All sequences of three bytes: accepted exactly where GLib accepts them, and never read past. */
static void test_all_triples(void) {
  for (uint32_t i = 0; i < 1u << 24; i++) {
    const uint8_t s[3] = {(uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i};
    uint32_t c;
    if (s[0] < 0xc0 && (i & 0xffff)) continue; /* one byte decides: once is enough */
    size_t length = kr_utf8_next(s, 3, &c);
    g_assert_true(length >= 1 && length <= 3);
    gunichar theirs = g_utf8_get_char_validated((const char *)s, (gssize)length);
    gboolean valid = theirs != (gunichar)-1 && theirs != (gunichar)-2;
    if (s[0] == 0) valid = TRUE, theirs = 0;
    g_assert_true((c != KR_UTF8_INVALID) == valid);
    if (valid) g_assert_cmpuint(c, ==, theirs);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/utf8/all-code-points", test_all_code_points);
  g_test_add_func("/utf8/subparts", test_subparts);
  g_test_add_func("/utf8/all-triples", test_all_triples);
  return g_test_run();
}
