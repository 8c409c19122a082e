#include "tok_json.h"
#include "front_json.h"
#include <string.h>

static const char *blanks(const char *at, const char *end) {
  while (at < end && strchr(" \t\r\n", *at) && *at) at++;
  return at;
}

GString *kr_tok_read_string(const char *line, gsize n, const char **ret_what) {
  /* bytes that are no UTF-8 are the tokenizer's to replace */
  kr_front_json json = {line, line, line + n, NULL};
  GString *out = g_string_sized_new(n);
  *ret_what = "is not a JSON string";
  if (kr_front_json_string(&json, out) && kr_front_json_finish(&json)) return out;
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
