/* Reading of the tokenizer vectors. */
#include "vectors.h"
#include <string.h>

/* Behind the colon of a member, white space skipped; NULL without it. */
static const char *member(const char *line, const char *name) {
  char *quoted = g_strdup_printf("\"%s\"", name);
  const char *at = strstr(line, quoted);
  at = at ? at + strlen(quoted) : NULL;
  g_free(quoted);
  while (at && (*at == ' ' || *at == ':')) at++;
  return at;
}

GByteArray *vector_bytes(const char *line, const char *name) {
  const char *at = member(line, name);
  if (!at || *at != '"') return NULL;
  GByteArray *bytes = g_byte_array_new();
  for (at++; *at != '"'; at += 2) {
    int high = g_ascii_xdigit_value(at[0]), low = g_ascii_xdigit_value(at[1]);
    g_assert_true(high >= 0 && low >= 0);
    guint8 byte = (guint8)(high << 4 | low);
    g_byte_array_append(bytes, &byte, 1);
  }
  return bytes;
}

GArray *vector_ids(const char *line, const char *name) {
  const char *at = member(line, name);
  if (!at || *at != '[') return NULL;
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
  for (at++; *at != ']';) {
    char *end;
    int32_t id = (int32_t)g_ascii_strtoll(at, &end, 10);
    g_assert_true(end > at);
    g_array_append_val(ids, id);
    for (at = end; *at == ',' || *at == ' ';) at++;
  }
  return ids;
}
