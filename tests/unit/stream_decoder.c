/* The streaming decoder: however bytes are cut, the same text comes out, and every part of it is
 * whole characters. */
#include <glib.h>
#include <krafla/krafla.h>
#include <string.h>

#define U "\xef\xbf\xbd"

static const char *const examples[][2] = {
    {"", ""},
    {"ob 🐱 ke", "ob 🐱 ke"},
    {"\xf0", U},
    {"\xf0\x9f\x90\xb1\xf0\x9f\x90", "🐱" U},
    {"\xed\xa0\x80", U U U},
    {"\xf0\x80\x80"
     "A",
     U U U "A"},
    {"\xe2\x80"
     "A",
     U "A"},
    {"\xe2\x80\xe2\x80\x94", U "—"},
    {"\xf0\x9f\xc3\xa9", U "é"},
    {"\xc3\xc3\xc3\xa9", U U "é"},
    {"\xf4\x90\x80\x80.", U U U U "."},
    {"a\xff\xfe\x80z", "a" U U U "z"},
    {"é漢🐱\x7f", "é漢🐱\x7f"},
};

/* Pushes a part; the room is just what the interface asks for. */
static void push(kr_decoder *decoder, const char *bytes, size_t n, GString *out) {
  char *room = g_malloc(3 * n + 12);
  size_t written = kr_decoder_push(decoder, bytes, n, room);
  g_assert_cmpuint(written, <=, 3 * n + 12);
  g_assert_true(g_utf8_validate(room, (gssize)written, NULL));
  g_string_append_len(out, room, (gssize)written);
  g_free(room);
}

static void finish(kr_decoder *decoder, GString *out) {
  char room[12];
  g_string_append_len(out, room, (gssize)kr_decoder_finish(decoder, room));
}

/* Bit i of cuts: a cut behind byte i. */
static void test_every_cut(void) {
  for (size_t e = 0; e < G_N_ELEMENTS(examples); e++) {
    const char *bytes = examples[e][0];
    size_t n = strlen(bytes);
    for (uint32_t cuts = 0; cuts < 1u << (n ? n - 1 : 0); cuts++) {
      kr_decoder decoder = {{0}};
      GString *out = g_string_new(NULL);
      for (size_t from = 0, to = 1; to <= n; to++) {
        if (to < n && !(cuts >> (to - 1) & 1)) continue;
        push(&decoder, bytes + from, to - from, out);
        from = to;
      }
      finish(&decoder, out);
      g_assert_cmpstr(out->str, ==, examples[e][1]);
      g_string_free(out, TRUE);
    }
  }
}

/* A character comes out with its last byte, and not before. */
static void test_at_once(void) {
  kr_decoder decoder = {{0}};
  GString *out = g_string_new(NULL);
  static const char cat[] = "\xf0\x9f\x90\xb1";
  for (int i = 0; i < 3; i++) {
    push(&decoder, cat + i, 1, out);
    g_assert_cmpuint(out->len, ==, 0);
  }
  push(&decoder, cat + 3, 1, out);
  g_assert_cmpstr(out->str, ==, cat);
  finish(&decoder, out);
  g_assert_cmpuint(out->len, ==, 4);
  g_string_free(out, TRUE);
}

/* Random bytes, in two parts and in one. */
static void test_random(void) {
  static const uint8_t likely[] = {0x41, 0x80, 0x90, 0xa0, 0xbf, 0xc2, 0xe0, 0xe2,
                                   0xed, 0xf0, 0xf4, 0xf5, 0x9f, 0xff, 0xc0, 0xc3};
  for (int round = 0; round < 20000; round++) {
    char bytes[16];
    size_t n = (size_t)g_test_rand_int_range(1, 17), cut = (size_t)g_test_rand_int_range(0, 17);
    for (size_t i = 0; i < n; i++) bytes[i] = (char)likely[g_test_rand_int_range(0, 16)];
    cut = MIN(cut, n);
    kr_decoder one = {{0}}, two = {{0}};
    GString *a = g_string_new(NULL), *b = g_string_new(NULL);
    push(&one, bytes, n, a);
    finish(&one, a);
    push(&two, bytes, cut, b);
    push(&two, bytes + cut, n - cut, b);
    finish(&two, b);
    g_assert_cmpmem(a->str, a->len, b->str, b->len);
    g_string_free(a, TRUE);
    g_string_free(b, TRUE);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/decoder/every-cut", test_every_cut);
  g_test_add_func("/decoder/at-once", test_at_once);
  g_test_add_func("/decoder/random", test_random);
  return g_test_run();
}
