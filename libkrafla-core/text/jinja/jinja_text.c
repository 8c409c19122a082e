/* str() and repr() of values. */
#include "base/utf8.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_run.h"
#include "text/jinja/jinja_unicode.h"

static bool write_escape(kr_jctx *c, uint32_t code) {
  static const char hex[] = "0123456789abcdef";
  char out[12] = "\\x";
  int digits = code < 0x100 ? 2 : code < 0x10000 ? 4 : 8;
  out[1] = digits == 2 ? 'x' : digits == 4 ? 'u' : 'U';
  for (int i = 0; i < digits; i++) out[2 + i] = hex[code >> (4 * (digits - 1 - i)) & 15];
  return kr_jout(c, out, (size_t)digits + 2);
}

/* In quotes: single ones, unless there are single and no double ones in the text. */
static bool write_quoted(kr_jctx *c, const kr_jstring *s) {
  bool single = s->n && memchr(s->p, '\'', s->n);
  char quote = single && !memchr(s->p, '"', s->n) ? '"' : '\'';
  size_t start = 0, n;
  if (s->markup && !kr_jout_text(c, "Markup(")) return false;
  if (!kr_jout(c, &quote, 1)) return false;
  for (size_t at = 0; at < s->n; at += n) {
    uint32_t code;
    n = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
    const char *escape = code == '\n'             ? "\\n"
                         : code == '\r'           ? "\\r"
                         : code == '\t'           ? "\\t"
                         : code == '\\'           ? "\\\\"
                         : code != (uint8_t)quote ? NULL
                         : quote == '"'           ? "\\\""
                                                  : "\\'";
    if (!escape && kr_jis(code, KR_J_PRINTABLE)) continue;
    if (!kr_jout(c, s->p + start, at - start)) return false;
    if (!(escape ? kr_jout_text(c, escape) : write_escape(c, code))) return false;
    start = at + n;
  }
  return kr_jout(c, s->p + start, s->n - start) && kr_jout(c, &quote, 1) &&
         (!s->markup || kr_jout_text(c, ")"));
}

static bool write_items(kr_jctx *c, const kr_jlist *list, const char *open, const char *close) {
  if (!kr_jout_text(c, open)) return false;
  for (size_t i = 0; i < list->n; i++)
    if ((i && !kr_jout_text(c, ", ")) || !kr_jwrite_repr(c, list->items[i])) return false;
  return kr_jout_text(c, close);
}

static bool write_dict(kr_jctx *c, const kr_jdict *dict) {
  if (!kr_jout_text(c, "{")) return false;
  for (size_t i = 0; i < dict->n; i++)
    if ((i && !kr_jout_text(c, ", ")) || !kr_jwrite_repr(c, dict->entries[i].key) ||
        !kr_jout_text(c, ": ") || !kr_jwrite_repr(c, dict->entries[i].value))
      return false;
  return kr_jout_text(c, "}");
}

static bool write_view(kr_jctx *c, kr_jvalue v) {
  kr_jlist *items;
  return kr_jlist_of(c, v, &items) && kr_jout_text(c, kr_jtype_name(v)) &&
         write_items(c, items, "([", "])");
}

static bool write_range(kr_jctx *c, const kr_jrange *r) {
  return kr_jout_text(c, "range(") && kr_jnumber_write(c, kr_jint(r->start)) &&
         kr_jout_text(c, ", ") && kr_jnumber_write(c, kr_jint(r->stop)) &&
         (r->step == 1 || (kr_jout_text(c, ", ") && kr_jnumber_write(c, kr_jint(r->step)))) &&
         kr_jout_text(c, ")");
}

static bool write_loop(kr_jctx *c, kr_jvalue v) {
  kr_jvalue index, length;
  return kr_jloop_attribute(c, v.loop, "index", &index) &&
         kr_jloop_attribute(c, v.loop, "length", &length) && kr_jout_text(c, "<LoopContext ") &&
         kr_jnumber_write(c, index) && kr_jout_text(c, "/") && kr_jnumber_write(c, length) &&
         kr_jout_text(c, ">");
}

static bool write_macro(kr_jctx *c, const struct kr_jmacro *macro) {
  const kr_jstring *name = kr_jmacro_name(macro);
  return kr_jout_text(c, "<Macro ") &&
         (name ? write_quoted(c, name) : kr_jout_text(c, "anonymous")) && kr_jout_text(c, ">");
}

static bool write_inner(kr_jctx *c, kr_jvalue v) {
  switch (v.type) {
  case KR_J_LIST:
    return write_items(c, v.list, "[", "]");
  case KR_J_TUPLE:
    return write_items(c, v.list, "(", v.list->n == 1 ? ",)" : ")");
  case KR_J_DICT:
    return write_dict(c, v.dict);
  case KR_J_VIEW:
    return write_view(c, v);
  case KR_J_LOOP:
    return write_loop(c, v);
  case KR_J_MACRO:
    return write_macro(c, v.macro);
  case KR_J_NAMESPACE:
    return kr_jout_text(c, "<Namespace ") && write_dict(c, v.dict) && kr_jout_text(c, ">");
  default: /* Python would print an address */
    return kr_jout_text(c, "<") && kr_jout_text(c, kr_jtype_name(v)) && kr_jout_text(c, " object>");
  }
}

bool kr_jwrite_repr(kr_jctx *c, kr_jvalue v) {
  switch (v.type) {
  case KR_J_UNDEFINED:
    return kr_jout_text(c, "Undefined");
  case KR_J_NONE:
    return kr_jout_text(c, "None");
  case KR_J_BOOL:
    return kr_jout_text(c, v.b ? "True" : "False");
  case KR_J_INT:
  case KR_J_BIG:
  case KR_J_FLOAT:
    return kr_jnumber_write(c, v);
  case KR_J_STRING:
    return write_quoted(c, v.s);
  case KR_J_RANGE:
    return write_range(c, v.range);
  default:
    break;
  }
  if (!kr_jenter(c)) return false;
  bool ok = write_inner(c, v);
  kr_jleave(c);
  return ok;
}

bool kr_jwrite_str(kr_jctx *c, kr_jvalue v) {
  if (v.type == KR_J_STRING) return kr_jout(c, v.s->p, v.s->n);
  if (v.type == KR_J_UNDEFINED) return true;
  return kr_jwrite_repr(c, v);
}

bool kr_jtake(kr_jctx *c, size_t mark, kr_jvalue *ret) {
  bool ok = kr_jstring_copy(c, c->out ? c->out + mark : "", c->n_out - mark, ret);
  c->n_out = mark;
  return ok;
}

bool kr_jstr(kr_jctx *c, kr_jvalue v, kr_jvalue *ret) {
  size_t mark = c->n_out;
  if (v.type == KR_J_STRING) return *ret = v, true;
  return kr_jwrite_str(c, v) && kr_jtake(c, mark, ret);
}

bool kr_jrepr(kr_jctx *c, kr_jvalue v, kr_jvalue *ret) {
  size_t mark = c->n_out;
  return kr_jwrite_repr(c, v) && kr_jtake(c, mark, ret);
}
