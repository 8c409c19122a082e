/* Attributes, items, slices and arithmetic operators, with the rules of the immutable sandbox. */
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_unicode.h"

/* ---- attributes -------------------------------------------------------------------------------
 */

/* Methods that would change a list or a dict: to take them gives a value that fails when used. */
static bool is_unsafe(kr_jvalue object, const char *name, size_t n) {
  static const char lists[] = " append clear pop reverse insert sort extend remove ";
  static const char dicts[] = " clear pop popitem setdefault update ";
  const char *table = object.type == KR_J_LIST ? lists : object.type == KR_J_DICT ? dicts : "";
  for (const char *p = table; *p; p++)
    if (*p == ' ' && !strncmp(p + 1, name, n) && p[1 + n] == ' ') return true;
  return false;
}

static bool bind_method(kr_jctx *c, kr_jvalue object, const kr_jbuiltin *builtin, kr_jvalue *ret) {
  kr_jmethod *bound = kr_jalloc(c, 1, sizeof *bound);
  if (!bound) return false;
  *bound = (kr_jmethod){.self = object, .builtin = builtin};
  *ret = kr_jobject(KR_J_METHOD, bound);
  return true;
}

/* getattr(object, name): KR_J_MISSING if it has none. */
static bool find_attribute(kr_jctx *c, kr_jvalue object, kr_jvalue name, kr_jvalue *ret) {
  const char *p = name.s->p;
  size_t n = name.s->n;
  char text[64] = "";
  *ret = kr_jmissing();
  bool undefined = object.type == KR_J_UNDEFINED;
  bool special = n > 4 && !memcmp(p, "__", 2) && !memcmp(p + n - 2, "__", 2);
  if (special && (!undefined || kr_jequals(name.s, "__class__")))
    return kr_jundefined_name(c, object, name, true, ret);
  if (undefined) return kr_jundefined_fail(c, object.undefined);
  if (n < sizeof text) memcpy(text, p, n);
  switch (object.type) {
  case KR_J_NAMESPACE:
    return kr_jdict_get(c, object.dict, name, ret);
  case KR_J_LOOP:
    return kr_jloop_attribute(c, object.loop, text, ret);
  case KR_J_MACRO:
    return kr_jmacro_attribute(c, object.macro, text, ret);
  case KR_J_CYCLER:
    if (!strcmp(text, "current")) *ret = object.cycler->items->items[object.cycler->at];
    break;
  case KR_J_TUPLE:
    if (object.list->group && !strcmp(text, "grouper")) *ret = object.list->items[0];
    if (object.list->group && !strcmp(text, "list")) *ret = object.list->items[1];
    break;
  default:
    break;
  }
  if (ret->type != KR_J_MISSING) return true;
  if (is_unsafe(object, p, n)) return kr_jundefined_name(c, object, name, true, ret);
  const kr_jbuiltin *builtin = kr_jmethod_find(object, p, n);
  return !builtin || bind_method(c, object, builtin, ret);
}

bool kr_jgetattr(kr_jctx *c, kr_jvalue object, kr_jvalue name, kr_jvalue *ret) {
  if (!find_attribute(c, object, name, ret)) return false;
  if (ret->type != KR_J_MISSING) return true;
  if (object.type == KR_J_DICT && !kr_jdict_get(c, object.dict, name, ret)) return false;
  return ret->type != KR_J_MISSING || kr_jundefined_name(c, object, name, false, ret);
}

/* ---- items ------------------------------------------------------------------------------------
 */

static bool point_at(kr_jctx *c, const kr_jstring *s, int64_t i, kr_jvalue *ret) {
  size_t at = kr_joffset(s, (size_t)i), end = at;
  if (!kr_jis_ascii(s) && !kr_jcharge(c, at)) return false;
  do end++;
  while (end < s->n && ((uint8_t)s->p[end] & 0xc0) == 0x80);
  return kr_jstring_part(c, s, at, end - at, ret);
}

/* KR_J_MISSING when there is no such item. */
static bool item_at(kr_jctx *c, kr_jvalue object, int64_t i, kr_jvalue *ret) {
  int64_t n;
  if (!kr_jlength(c, object, true, &n)) return false;
  if (i < 0) i += n;
  *ret = kr_jmissing();
  if (i < 0 || i >= n) return true;
  if (object.type == KR_J_STRING) return point_at(c, object.s, i, ret);
  *ret = object.type == KR_J_RANGE ? kr_jint(object.range->start + i * object.range->step)
                                   : object.list->items[i];
  return true;
}

static bool hashable(kr_jvalue v) {
  if (v.type == KR_J_LIST || v.type == KR_J_DICT || v.type == KR_J_VIEW) return false;
  for (size_t i = 0; v.type == KR_J_TUPLE && i < v.list->n; i++) {
    uint8_t type = v.list->items[i].type;
    if (type == KR_J_LIST || type == KR_J_DICT || type == KR_J_VIEW) return false;
  }
  return true;
}

bool kr_jgetitem(kr_jctx *c, kr_jvalue object, kr_jvalue key, kr_jvalue *ret) {
  *ret = kr_jmissing();
  switch (object.type) {
  case KR_J_UNDEFINED:
    return kr_jundefined_fail(c, object.undefined);
  case KR_J_DICT:
    if (hashable(key) && !kr_jdict_get(c, object.dict, key, ret)) return false;
    break;
  case KR_J_STRING:
  case KR_J_LIST:
  case KR_J_TUPLE:
  case KR_J_RANGE:
    if ((key.type == KR_J_INT || key.type == KR_J_BOOL) &&
        !item_at(c, object, key.type == KR_J_INT ? key.i : key.b, ret))
      return false;
    break;
  default:
    break;
  }
  if (ret->type == KR_J_MISSING && key.type == KR_J_STRING && !find_attribute(c, object, key, ret))
    return false;
  return ret->type != KR_J_MISSING || kr_jundefined_name(c, object, key, false, ret);
}

/* ---- slices -----------------------------------------------------------------------------------
 */

/* A bound as Python's slice.indices has it: big ones are cut, negative ones count from the end. */
static int64_t bound(kr_jvalue v, int64_t n, int64_t step, int64_t absent) {
  int64_t i = v.type == KR_J_INT    ? v.i
              : v.type == KR_J_BOOL ? v.b
              : v.type == KR_J_BIG  ? (v.big->negative ? -n - 2 : n + 1)
                                    : absent;
  if (v.type == KR_J_NONE) return i;
  int64_t low = step < 0 ? -1 : 0, high = step < 0 ? n - 1 : n;
  if (i < -n - 1) i = -n - 1;
  if (i < 0) i += n;
  return i < low ? low : i > high ? high : i;
}

/* Characters of a string one step apart. */
static bool pick_points(kr_jctx *c, const kr_jstring *s, int64_t at, int64_t step, int64_t n,
                        kr_jvalue *ret) {
  size_t mark = c->n_out, place;
  bool ascii = kr_jis_ascii(s);
  if (!kr_jcharge(c, (size_t)n * 16)) return false;
  if (ascii) {
    for (int64_t i = 0; i < n; i++, at += step)
      if (!kr_jout(c, s->p + at, 1)) return false;
  } else {
    size_t *offsets = kr_jalloc(c, kr_jpoints(s) + 1, sizeof *offsets), k = 0;
    if (!offsets || !kr_jcharge(c, s->n)) return false;
    for (place = 0; place < s->n; place++)
      if (((uint8_t)s->p[place] & 0xc0) != 0x80) offsets[k++] = place;
    offsets[k] = s->n;
    for (int64_t i = 0; i < n; i++, at += step)
      if (!kr_jout(c, s->p + offsets[at], offsets[at + 1] - offsets[at])) return false;
  }
  if (!kr_jtake(c, mark, ret)) return false;
  ret->s->markup = s->markup;
  return true;
}

static bool slice_string(kr_jctx *c, const kr_jstring *s, int64_t at, int64_t step, int64_t n,
                         kr_jvalue *ret) {
  if (step != 1) return pick_points(c, s, at, step, n, ret);
  size_t start = kr_joffset(s, (size_t)at);
  kr_jstring rest = {.p = s->p + start, .n = s->n - start, .points = KR_J_UNCOUNTED};
  if (kr_jis_ascii(s)) rest.points = rest.n;
  size_t bytes = kr_joffset(&rest, (size_t)n);
  if (!kr_jis_ascii(s) && !kr_jcharge(c, s->n)) return false;
  return kr_jstring_part(c, s, start, bytes, ret);
}

static bool slice_items(kr_jctx *c, kr_jvalue object, int64_t at, int64_t step, int64_t n,
                        kr_jvalue *ret) {
  kr_jlist *list = kr_jlist_new(c, (size_t)n);
  if (!list || !kr_jcharge(c, (size_t)n * 16)) return false;
  for (int64_t i = 0; i < n; i++, at += step)
    if (!kr_jlist_add(c, list, object.list->items[at])) return false;
  *ret = kr_jobject((kr_jtype)object.type, list);
  return true;
}

static bool slice_range(kr_jctx *c, const kr_jrange *range, int64_t at, int64_t step, int64_t n,
                        kr_jvalue *ret) {
  kr_jrange *part = kr_jalloc(c, 1, sizeof *part);
  if (!part) return false;
  part->n = n;
  part->step = range->step * step;
  part->start = range->start + at * range->step;
  part->stop = part->start + n * part->step;
  *ret = kr_jobject(KR_J_RANGE, part);
  return true;
}

bool kr_jgetslice(kr_jctx *c, kr_jvalue object, const kr_jvalue bounds[3], kr_jvalue *ret) {
  int64_t n = -1, step = 1;
  bool ok = object.type == KR_J_STRING || object.type == KR_J_LIST || object.type == KR_J_TUPLE ||
            object.type == KR_J_RANGE;
  if (object.type == KR_J_UNDEFINED) return kr_jundefined_fail(c, object.undefined);
  for (int i = 0; i < 3; i++) ok = ok && (kr_jis_integer(bounds[i]) || bounds[i].type == KR_J_NONE);
  if (!ok)
    return kr_jfail(c, "TypeError", "'%s' object cannot be sliced so", kr_jtype_name(object));
  if (!kr_jlength(c, object, true, &n)) return false;
  if (bounds[2].type == KR_J_INT) step = bounds[2].i;
  if (bounds[2].type == KR_J_BOOL) step = bounds[2].b;
  if (step == 0) return kr_jfail(c, "ValueError", "slice step cannot be zero");
  if (bounds[2].type == KR_J_BIG) step = bounds[2].big->negative ? -n - 1 : n + 1;
  step = step > n + 1 ? n + 1 : step < -n - 1 ? -n - 1 : step; /* more reaches no further */
  int64_t from = bound(bounds[0], n, step, step < 0 ? n - 1 : 0);
  int64_t to = bound(bounds[1], n, step, step < 0 ? -1 : n);
  int64_t count = step > 0 ? (to > from ? (to - from - 1) / step + 1 : 0)
                           : (from > to ? (from - to - 1) / -step + 1 : 0);
  if (count == 0) from = 0;
  if (object.type == KR_J_STRING) return slice_string(c, object.s, from, step, count, ret);
  if (object.type == KR_J_RANGE) return slice_range(c, object.range, from, step, count, ret);
  return slice_items(c, object, from, step, count, ret);
}

/* ---- arithmetic -------------------------------------------------------------------------------
 */

static bool add_strings(kr_jctx *c, kr_jvalue a, kr_jvalue b, kr_jvalue *ret) {
  bool markup = a.s->markup || b.s->markup;
  if (markup && (!kr_jescape(c, a, &a) || !kr_jescape(c, b, &b))) return false;
  if (!kr_jconcat(c, a.s, b.s->p, b.s->n, ret)) return false;
  ret->s->markup = markup;
  return true;
}

static bool add_lists(kr_jctx *c, kr_jvalue a, kr_jvalue b, kr_jvalue *ret) {
  size_t n;
  if (!kr_add_size(a.list->n, b.list->n, &n)) return kr_jfail(c, "MemoryError", "a list too large");
  kr_jlist *list = kr_jlist_new(c, n);
  if (!list || !kr_jcharge(c, n * sizeof *list->items)) return false;
  if (a.list->n) memcpy(list->items, a.list->items, a.list->n * sizeof *list->items);
  if (b.list->n) memcpy(list->items + a.list->n, b.list->items, b.list->n * sizeof *list->items);
  list->n = n;
  *ret = kr_jobject((kr_jtype)a.type, list);
  return true;
}

static bool repeat_string(kr_jctx *c, const kr_jstring *s, size_t times, kr_jvalue *ret) {
  size_t n;
  if (!kr_mul_size(s->n, times, &n)) return kr_jfail(c, "MemoryError", "a string too large");
  char *text = kr_jalloc(c, n ? n : 1, 1);
  if (!text || !kr_jcharge(c, n)) return false;
  for (size_t at = 0; s->n && at < n; at += s->n) memcpy(text + at, s->p, s->n);
  if (!kr_jcharge(c, s->n ? times * 8 : 0) || !kr_jstring_of(c, text, n, ret)) return false;
  ret->s->markup = s->markup;
  return true;
}

static bool repeat_list(kr_jctx *c, kr_jvalue v, size_t times, kr_jvalue *ret) {
  size_t n;
  if (!kr_mul_size(v.list->n, times, &n)) return kr_jfail(c, "MemoryError", "a list too large");
  kr_jlist *list = kr_jlist_new(c, n);
  if (!list || !kr_jcharge(c, n * 16)) return false;
  for (size_t i = 0; i < n; i++)
    if (!kr_jlist_add(c, list, v.list->items[i % v.list->n])) return false;
  *ret = kr_jobject((kr_jtype)v.type, list);
  return true;
}

static bool is_sequence(kr_jvalue v) {
  return v.type == KR_J_STRING || v.type == KR_J_LIST || v.type == KR_J_TUPLE;
}

static bool repeat(kr_jctx *c, kr_jvalue v, kr_jvalue times, kr_jvalue *ret) {
  int64_t n = times.type == KR_J_BOOL ? times.b : times.type == KR_J_INT ? times.i : INT64_MAX;
  if (times.type == KR_J_BIG)
    return kr_jfail(c, "OverflowError", "cannot fit 'int' into an index-sized integer");
  if (n < 0) n = 0;
  if ((uint64_t)n > SIZE_MAX) return kr_jfail(c, "MemoryError", "a size that overflows");
  if (v.type == KR_J_STRING) return repeat_string(c, v.s, (size_t)n, ret);
  return repeat_list(c, v, v.list->n ? (size_t)n : 0, ret);
}

bool kr_jbinary(kr_jctx *c, char op, kr_jvalue a, kr_jvalue b, kr_jvalue *ret) {
  if (kr_jnumber_is(a) && kr_jnumber_is(b)) return kr_jnumber_binary(c, op, a, b, ret);
  if (op == '%' && a.type == KR_J_STRING) return kr_jformat_percent(c, a.s, b, ret);
  if (a.type == KR_J_UNDEFINED) return kr_jundefined_fail(c, a.undefined);
  if (b.type == KR_J_UNDEFINED) return kr_jundefined_fail(c, b.undefined);
  if (op == '+' && is_sequence(a)) {
    if (a.type == b.type)
      return a.type == KR_J_STRING ? add_strings(c, a, b, ret) : add_lists(c, a, b, ret);
    const char *type = kr_jtype_name(a);
    return kr_jfail(c, "TypeError", "can only concatenate %s (not \"%s\") to %s", type,
                    kr_jtype_name(b), type);
  }
  if (op == '*' && is_sequence(a) && kr_jis_integer(b)) return repeat(c, a, b, ret);
  if (op == '*' && is_sequence(b) && kr_jis_integer(a)) return repeat(c, b, a, ret);
  if (op == '*' && (is_sequence(a) || is_sequence(b)))
    return kr_jfail(c, "TypeError", "can't multiply sequence by non-int of type '%s'",
                    kr_jtype_name(is_sequence(a) ? b : a));
  char shown[3] = {op, 0, 0};
  if (op == KR_J_FLOORDIV) memcpy(shown, "//", 3);
  if (op == KR_J_POW) memcpy(shown, "**", 3);
  return kr_jfail(c, "TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", shown,
                  kr_jtype_name(a), kr_jtype_name(b));
}
