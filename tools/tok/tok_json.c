#include "tok_json.h"
#include <string.h>

static const char *blanks(const char *at, const char *end) {
  while (at < end && strchr(" \t\r\n", *at) && *at) at++;
  return at;
}

/* The four digits at at, or -1. */
static gint32 hex4(const char *at, const char *end) {
  gint32 code = 0;
  if (end - at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    int digit = g_ascii_xdigit_value(at[i]);
    if (digit < 0) return -1;
    code = code << 4 | digit;
  }
  return code;
}

/* Behind "\u"; half of a pair becomes U+FFFD. Returns where the escape ends, or NULL. */
static const char *read_unicode(const char *at, const char *end, GString *out) {
  gint32 code = hex4(at, end);
  if (code < 0) return NULL;
  at += 4;
  if (code >= 0xd800 && code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    gint32 low = hex4(at + 2, end);
    if (low >= 0xdc00 && low < 0xe000)
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), at += 6;
  }
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  char text[6];
  g_string_append_len(out, text, g_unichar_to_utf8((gunichar)code, text));
  return at;
}

GString *kr_tok_read_string(const char *line, gsize n, const char **ret_what) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char *end = line + n, *at = blanks(line, end);
  *ret_what = "is not a JSON string";
  if (at == end || *at++ != '"') return NULL;
  GString *out = g_string_sized_new(n);
  while (at && at < end && *at != '"') {
    if ((guchar)*at < 0x20) break;
    if (*at != '\\') {
      g_string_append_c(out, *at++);
      continue;
    }
    if (++at == end) break;
    const char *known = *at ? strchr(from, *at) : NULL;
    if (known)
      g_string_append_c(out, to[known - from]), at++;
    else
      at = *at == 'u' ? read_unicode(at + 1, end, out) : NULL;
  }
  if (at && at < end && *at == '"' && blanks(at + 1, end) == end) return out;
  g_string_free(out, TRUE);
  return NULL;
}

GArray *kr_tok_read_ids(const char *line, gsize n, const char **ret_what) {
  const char *end = line + n, *at = blanks(line, end);
  *ret_what = "is not a JSON array of token ids";
  if (at == end || *at != '[') return NULL;
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(gint32));
  at = blanks(at + 1, end);
  gboolean ok = at < end, closed = ok && *at == ']';
  while (ok && !closed) {
    gint64 id = 0;
    const char *start = at;
    for (; at < end && g_ascii_isdigit(*at) && id <= G_MAXINT32; at++) id = id * 10 + (*at - '0');
    ok = at > start && id <= G_MAXINT32;
    gint32 value = (gint32)id;
    if (ok) g_array_append_val(ids, value);
    at = blanks(at, end);
    closed = ok && at < end && *at == ']';
    ok = ok && at < end && (closed || *at == ',');
    if (ok && !closed) at = blanks(at + 1, end);
  }
  if (ok && blanks(at + 1, end) == end) return ids;
  g_array_unref(ids);
  return NULL;
}

void kr_tok_write_string(GString *out, const char *text, gsize n) {
  g_string_append_c(out, '"');
  for (gsize i = 0; i < n; i++) {
    guchar c = (guchar)text[i];
    if (c == '"' || c == '\\')
      g_string_append_c(g_string_append_c(out, '\\'), (char)c);
    else if (c == '\n')
      g_string_append(out, "\\n");
    else if (c < 0x20 || c == 0x7f)
      g_string_append_printf(out, "\\u%04x", c);
    else
      g_string_append_c(out, (char)c);
  }
  g_string_append_c(out, '"');
}
