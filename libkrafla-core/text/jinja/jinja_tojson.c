/* The filter tojson: Python's json.dumps, as transformers calls it. */
#include "base/utf8.h"
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_sort.h"

typedef struct style {
  const kr_jstring *indent; /* NULL: all on one line */
  const char *item, *key;   /* separators */
  size_t n_item, n_key;
  bool ascii, sorted;
} style;

static bool write_value(kr_jctx *c, const style *s, kr_jvalue v, size_t level);

static bool write_unit(kr_jctx *c, uint32_t unit) {
  static const char hex[] = "0123456789abcdef";
  char out[6] = {'\\', 'u'};
  for (int i = 0; i < 4; i++) out[2 + i] = hex[unit >> (12 - 4 * i) & 15];
  return kr_jout(c, out, 6);
}

static bool write_string(kr_jctx *c, const style *how, const kr_jstring *s) {
  size_t start = 0, n;
  if (!kr_jout_text(c, "\"")) return false;
  for (size_t at = 0; at < s->n; at += n) {
    uint32_t code;
    n = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
    if (code >= 0x20 && code != '"' && code != '\\' && (code < 0x7f || !how->ascii)) continue;
    const char *escape = code == '"'    ? "\\\""
                         : code == '\\' ? "\\\\"
                         : code == '\n' ? "\\n"
                         : code == '\r' ? "\\r"
                         : code == '\t' ? "\\t"
                         : code == '\b' ? "\\b"
                         : code == '\f' ? "\\f"
                                        : NULL;
    if (!kr_jout(c, s->p + start, at - start)) return false;
    start = at + n;
    bool ok = escape ? kr_jout_text(c, escape)
              : code < 0x10000
                  ? write_unit(c, code)
                  : write_unit(c, 0xd7c0 + (code >> 10)) && write_unit(c, 0xdc00 + (code & 0x3ff));
    if (!ok) return false;
  }
  return kr_jout(c, s->p + start, s->n - start) && kr_jout_text(c, "\"");
}

static bool write_number(kr_jctx *c, kr_jvalue v) {
  if (v.type != KR_J_FLOAT || v.f - v.f == 0) return kr_jnumber_write(c, v);
  return kr_jout_text(c, v.f != v.f ? "NaN" : v.f > 0 ? "Infinity" : "-Infinity");
}

static bool write_simple(kr_jctx *c, const style *s, kr_jvalue v) {
  switch (v.type) {
  case KR_J_NONE:
    return kr_jout_text(c, "null");
  case KR_J_BOOL:
    return kr_jout_text(c, v.b ? "true" : "false");
  case KR_J_STRING:
    return write_string(c, s, v.s);
  default:
    return write_number(c, v);
  }
}

static bool new_line(kr_jctx *c, const style *s, size_t level) {
  if (!s->indent) return true;
  if (!kr_jout_text(c, "\n")) return false;
  for (size_t i = 0; i < level; i++)
    if (!kr_jout(c, s->indent->p, s->indent->n)) return false;
  return true;
}

static bool write_list(kr_jctx *c, const style *s, const kr_jlist *list, size_t level) {
  if (!list->n) return kr_jout_text(c, "[]");
  if (!kr_jout_text(c, "[")) return false;
  for (size_t i = 0; i < list->n; i++)
    if ((i && !kr_jout(c, s->item, s->n_item)) || !new_line(c, s, level + 1) ||
        !write_value(c, s, list->items[i], level + 1))
      return false;
  return new_line(c, s, level) && kr_jout_text(c, "]");
}

/* Keys that are no strings become what JSON has for them, in quotes. */
static bool write_key(kr_jctx *c, const style *s, kr_jvalue key) {
  if (key.type == KR_J_STRING) return write_string(c, s, key.s);
  if (key.type != KR_J_NONE && !kr_jnumber_is(key))
    return kr_jfail(c, "TypeError", "keys must be str, int, float, bool or None, not %s",
                    kr_jtype_name(key));
  return kr_jout_text(c, "\"") && write_simple(c, s, key) && kr_jout_text(c, "\"");
}

static bool sort_entries(kr_jctx *c, const kr_jdict *dict, kr_jlist **ret_keys,
                         kr_jlist **ret_values) {
  kr_jlist *keys = kr_jlist_new(c, dict->n), *values = kr_jlist_new(c, dict->n);
  if (!keys || !values) return false;
  for (size_t i = 0; i < dict->n; i++)
    if (!kr_jlist_add(c, keys, dict->entries[i].key) ||
        !kr_jlist_add(c, values, dict->entries[i].value))
      return false;
  *ret_keys = keys, *ret_values = values;
  return kr_jsort(c, values, keys, false);
}

static bool write_dict(kr_jctx *c, const style *s, const kr_jdict *dict, size_t level) {
  kr_jlist *keys = NULL, *values = NULL;
  if (!dict->n) return kr_jout_text(c, "{}");
  if (s->sorted && !sort_entries(c, dict, &keys, &values)) return false;
  if (!kr_jout_text(c, "{")) return false;
  for (size_t i = 0; i < dict->n; i++)
    if ((i && !kr_jout(c, s->item, s->n_item)) || !new_line(c, s, level + 1) ||
        !write_key(c, s, keys ? keys->items[i] : dict->entries[i].key) ||
        !kr_jout(c, s->key, s->n_key) ||
        !write_value(c, s, values ? values->items[i] : dict->entries[i].value, level + 1))
      return false;
  return new_line(c, s, level) && kr_jout_text(c, "}");
}

static bool write_value(kr_jctx *c, const style *s, kr_jvalue v, size_t level) {
  if (v.type == KR_J_NONE || v.type == KR_J_STRING || kr_jnumber_is(v))
    return write_simple(c, s, v);
  if (v.type != KR_J_LIST && v.type != KR_J_TUPLE && v.type != KR_J_DICT)
    return kr_jfail(c, "TypeError", "Object of type %s is not JSON serializable", kr_jtype_name(v));
  if (!kr_jenter(c)) return false;
  bool ok = v.type == KR_J_DICT ? write_dict(c, s, v.dict, level) : write_list(c, s, v.list, level);
  kr_jleave(c);
  return ok;
}

/* indent: a number of blanks or a text; with it, items end their lines. */
static bool read_indent(kr_jctx *c, kr_jvalue v, style *s) {
  kr_jvalue blank, indent;
  int64_t n;
  if (v.type == KR_J_MISSING || v.type == KR_J_NONE) return true;
  if (v.type == KR_J_STRING) {
    s->indent = v.s;
  } else {
    if (!kr_jarg_int(c, v, 0, &n) || !kr_jstring_text(c, " ", &blank) ||
        !kr_jbinary(c, '*', blank, kr_jint(n), &indent))
      return false;
    s->indent = indent.s;
  }
  s->item = ",", s->n_item = 1;
  return true;
}

static bool read_separators(kr_jctx *c, kr_jvalue v, style *s) {
  kr_jlist *pair;
  const kr_jstring *item, *key;
  if (v.type == KR_J_MISSING || v.type == KR_J_NONE) return true;
  if (!kr_jlist_of(c, v, &pair)) return false;
  if (pair->n != 2) return kr_jfail(c, "ValueError", "separators are two");
  if (!kr_jarg_string(c, pair->items[0], "the separator", &item) ||
      !kr_jarg_string(c, pair->items[1], "the separator", &key))
    return false;
  s->item = item->p, s->n_item = item->n, s->key = key->p, s->n_key = key->n;
  return true;
}

bool kr_jtojson(kr_jctx *c, kr_jvalue v, const kr_jvalue *arg, kr_jvalue *ret) {
  style s = {.item = ", ", .n_item = 2, .key = ": ", .n_key = 2};
  size_t mark = c->n_out;
  s.ascii = kr_jtruth(arg[0]);
  s.sorted = kr_jtruth(arg[3]);
  if (!read_indent(c, arg[1], &s) || !read_separators(c, arg[2], &s) || !write_value(c, &s, v, 0))
    return false;
  return kr_jtake(c, mark, ret);
}
