#include "front_json.h"
#include <string.h>

enum { DEPTH = 64 }; /* of what is skipped */

void kr_front_json_write(GString *out, const char *text, gsize n) {
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

static gboolean fail(kr_front_json *json, const char *what) {
  json->what = what;
  return FALSE;
}

static void skip_blanks(kr_front_json *json) {
  while (json->at < json->end && *json->at && strchr(" \t\r\n", *json->at)) json->at++;
}

/* Takes c if it comes next. */
static gboolean take(kr_front_json *json, char c) {
  skip_blanks(json);
  if (json->at == json->end || *json->at != c) return FALSE;
  json->at++;
  return TRUE;
}

gboolean kr_front_json_begin(kr_front_json *json, const char *text, gsize n) {
  *json = (kr_front_json){text, text, text + n, NULL};
  return g_utf8_validate(text, (gssize)n, NULL) || fail(json, "is not valid UTF-8");
}

/* The four digits that come next, or -1. */
static gint32 hex4(const kr_front_json *json, const char *at) {
  gint32 code = 0;
  if (json->end - at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    int digit = g_ascii_xdigit_value(at[i]);
    if (digit < 0) return -1;
    code = code << 4 | digit;
  }
  return code;
}

/* Behind "\u". */
static gboolean read_unicode(kr_front_json *json, GString *out) {
  gint32 code = hex4(json, json->at);
  if (code < 0) return FALSE;
  json->at += 4;
  const char *at = json->at;
  if (code >= 0xd800 && code < 0xdc00 && json->end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
    gint32 low = hex4(json, at + 2);
    if (low >= 0xdc00 && low < 0xe000)
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00), json->at += 6;
  }
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  char text[6];
  g_string_append_len(out, text, g_unichar_to_utf8((gunichar)code, text));
  return TRUE;
}

static gboolean read_escape(kr_front_json *json, GString *out) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  if (json->at == json->end || !*json->at) return FALSE;
  char c = *json->at++;
  const char *known = strchr(from, c);
  if (known) g_string_append_c(out, to[known - from]);
  return known || (c == 'u' && read_unicode(json, out));
}

gboolean kr_front_json_string(kr_front_json *json, GString *out) {
  g_string_truncate(out, 0);
  if (!take(json, '"')) return fail(json, "is not a string");
  while (json->at < json->end && *json->at != '"' && (guchar)*json->at >= 0x20) {
    const char *from = json->at;
    while (json->at < json->end && *json->at != '"' && *json->at != '\\' &&
           (guchar)*json->at >= 0x20)
      json->at++;
    g_string_append_len(out, from, json->at - from);
    if (json->at == json->end || *json->at != '\\') continue;
    json->at++;
    if (!read_escape(json, out)) return fail(json, "has an escape that JSON does not know");
  }
  /* a control character is no end, not even one that is a blank outside */
  if (json->at == json->end || *json->at != '"')
    return fail(json, "is a string that does not end, or has a control character");
  json->at++;
  return TRUE;
}

gboolean kr_front_json_open(kr_front_json *json, char bracket) {
  return take(json, bracket) || fail(json, bracket == '{' ? "is not an object" : "is not an array");
}

gboolean kr_front_json_next(kr_front_json *json, char bracket, gboolean first, gboolean *ret_more) {
  char closing = bracket == '{' ? '}' : ']';
  *ret_more = !take(json, closing);
  if (!*ret_more || first || take(json, ',')) return TRUE;
  return fail(json, bracket == '{' ? "is an object with neither , nor } behind a member"
                                   : "is an array with neither , nor ] behind an element");
}

gboolean kr_front_json_key(kr_front_json *json, GString *out) {
  if (!kr_front_json_string(json, out)) return fail(json, "has a member without a name");
  return take(json, ':') || fail(json, "has a member without a value");
}

/* true, false, null, and what numbers are made of. */
static gboolean skip_word(kr_front_json *json) {
  const char *from = json->at;
  while (json->at < json->end && *json->at &&
         (g_ascii_isalnum(*json->at) || strchr("+-.", *json->at)))
    json->at++;
  return json->at > from || fail(json, "has no value");
}

gboolean kr_front_json_skip(kr_front_json *json) {
  char brackets[DEPTH];
  gboolean first[DEPTH], more = TRUE, ok = TRUE;
  int depth = 0;
  g_autoptr(GString) ignored = g_string_new(NULL);
  do {
    /* inside a bracket: to its next value, or out of it */
    if (depth > 0) {
      ok = kr_front_json_next(json, brackets[depth - 1], first[depth - 1], &more);
      first[depth - 1] = FALSE;
      if (ok && !more) depth--;
      if (!ok || !more) continue;
      if (brackets[depth - 1] == '{' && !kr_front_json_key(json, ignored)) return FALSE;
    }
    skip_blanks(json);
    char c = json->at < json->end ? *json->at : '\0';
    if (c == '{' || c == '[') {
      if (depth == DEPTH) return fail(json, "is nested too deeply");
      json->at++;
      brackets[depth] = c, first[depth++] = TRUE;
    } else {
      ok = c == '"' ? kr_front_json_string(json, ignored) : skip_word(json);
    }
  } while (ok && depth > 0);
  return ok;
}

gboolean kr_front_json_finish(kr_front_json *json) {
  skip_blanks(json);
  return json->at == json->end || fail(json, "goes on behind its end");
}
