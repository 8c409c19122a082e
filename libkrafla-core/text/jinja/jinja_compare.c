/* Types, truth, length, equality and order of values, as Python has them. */
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_unicode.h"
#include "text/jinja/jinja_value.h"

const char *kr_jtype_name(kr_jvalue v) {
  switch (v.type) {
  case KR_J_UNDEFINED:
    return "Undefined";
  case KR_J_NONE:
    return "NoneType";
  case KR_J_BOOL:
    return "bool";
  case KR_J_INT:
  case KR_J_BIG:
    return "int";
  case KR_J_FLOAT:
    return "float";
  case KR_J_STRING:
    return v.s->markup ? "Markup" : "str";
  case KR_J_LIST:
    return "list";
  case KR_J_TUPLE:
    return "tuple";
  case KR_J_DICT:
    return "dict";
  case KR_J_VIEW:
    return v.view->kind == KR_J_KEYS     ? "dict_keys"
           : v.view->kind == KR_J_VALUES ? "dict_values"
                                         : "dict_items";
  case KR_J_RANGE:
    return "range";
  case KR_J_GENERATOR:
    return "generator";
  case KR_J_NAMESPACE:
    return "TemplateNamespace";
  case KR_J_MACRO:
    return "Macro";
  case KR_J_LOOP:
    return "LoopContext";
  case KR_J_METHOD:
    return "builtin_function_or_method";
  case KR_J_CYCLER:
    return "Cycler";
  case KR_J_JOINER:
    return "Joiner";
  default:
    return "function";
  }
}

bool kr_jtruth(kr_jvalue v) {
  switch (v.type) {
  case KR_J_MISSING:
  case KR_J_UNDEFINED:
  case KR_J_NONE:
    return false;
  case KR_J_BOOL:
    return v.b;
  case KR_J_INT:
    return v.i != 0;
  case KR_J_FLOAT:
    return v.f != 0;
  case KR_J_STRING:
    return v.s->n != 0;
  case KR_J_LIST:
  case KR_J_TUPLE:
    return v.list->n != 0;
  case KR_J_DICT:
    return v.dict->n != 0;
  case KR_J_VIEW:
    return v.view->dict->n != 0;
  case KR_J_RANGE:
    return v.range->n != 0;
  default:
    return true;
  }
}

bool kr_jlength(kr_jctx *c, kr_jvalue v, bool fail, int64_t *ret) {
  switch (v.type) {
  case KR_J_UNDEFINED:
    return *ret = 0, true;
  case KR_J_STRING:
    *ret = (int64_t)kr_jpoints(v.s);
    return kr_jcharge(c, v.s->n);
  case KR_J_LIST:
  case KR_J_TUPLE:
    return *ret = (int64_t)v.list->n, true;
  case KR_J_DICT:
    return *ret = (int64_t)v.dict->n, true;
  case KR_J_VIEW:
    return *ret = (int64_t)v.view->dict->n, true;
  case KR_J_RANGE:
    return *ret = v.range->n, true;
  default:
    break;
  }
  *ret = -1;
  return !fail || kr_jfail(c, "TypeError", "object of type '%s' has no len()", kr_jtype_name(v));
}

/* ---- equality ---------------------------------------------------------------------------------
 */

static bool is_number(kr_jvalue v) {
  return kr_jis_integer(v) || v.type == KR_J_FLOAT;
}

static bool equal_lists(kr_jctx *c, const kr_jlist *a, const kr_jlist *b, bool *ret) {
  *ret = a->n == b->n;
  for (size_t i = 0; *ret && i < a->n; i++)
    if (!kr_jequal(c, a->items[i], b->items[i], ret)) return false;
  return true;
}

static bool equal_dicts(kr_jctx *c, const kr_jdict *a, const kr_jdict *b, bool *ret) {
  *ret = a->n == b->n;
  for (size_t i = 0; *ret && i < a->n; i++) {
    kr_jvalue other;
    if (!kr_jdict_get(c, b, a->entries[i].key, &other)) return false;
    *ret = other.type != KR_J_MISSING;
    if (*ret && !kr_jequal(c, a->entries[i].value, other, ret)) return false;
  }
  return true;
}

static bool equal_ranges(const kr_jrange *a, const kr_jrange *b) {
  return a->n == b->n && (!a->n || (a->start == b->start && (a->n == 1 || a->step == b->step)));
}

static bool equal_inner(kr_jctx *c, kr_jvalue a, kr_jvalue b, bool *ret) {
  if (a.type == KR_J_LIST || a.type == KR_J_TUPLE) return equal_lists(c, a.list, b.list, ret);
  return equal_dicts(c, a.dict, b.dict, ret);
}

bool kr_jequal(kr_jctx *c, kr_jvalue a, kr_jvalue b, bool *ret) {
  *ret = false;
  if (--c->steps < 0) return kr_jcharge(c, 0);
  if (is_number(a) && is_number(b)) return *ret = kr_jnumber_compare(a, b) == 0, true;
  if (a.type != b.type) return true;
  switch (a.type) {
  case KR_J_UNDEFINED:
  case KR_J_NONE:
    return *ret = true, true;
  case KR_J_STRING:
    *ret = a.s->n == b.s->n && !memcmp(a.s->p, b.s->p, a.s->n);
    return !*ret || kr_jcharge(c, a.s->n);
  case KR_J_RANGE:
    return *ret = equal_ranges(a.range, b.range), true;
  case KR_J_LIST:
  case KR_J_TUPLE:
  case KR_J_DICT:
    if (a.object == b.object) return *ret = true, true;
    if (!kr_jenter(c)) return false;
    bool ok = equal_inner(c, a, b, ret);
    kr_jleave(c);
    return ok;
  case KR_J_METHOD:
    *ret = a.method->builtin == b.method->builtin && a.method->self.object == b.method->self.object;
    return true;
  default:
    return *ret = a.object == b.object, true;
  }
}

/* ---- order ------------------------------------------------------------------------------------
 */

static int compare_strings(const kr_jstring *a, const kr_jstring *b) {
  size_t n = a->n < b->n ? a->n : b->n;
  int order = n ? memcmp(a->p, b->p, n) : 0; /* that of UTF-8 is that of code points */
  if (order) return order < 0 ? -1 : 1;
  return a->n < b->n ? -1 : a->n > b->n;
}

static bool compare_lists(kr_jctx *c, const kr_jlist *a, const kr_jlist *b, const char *op,
                          int *ret) {
  for (size_t i = 0; i < a->n && i < b->n; i++) {
    bool same;
    if (!kr_jequal(c, a->items[i], b->items[i], &same)) return false;
    if (same) continue;
    if (!kr_jenter(c)) return false;
    bool ok = kr_jcompare(c, a->items[i], b->items[i], op, ret);
    kr_jleave(c);
    return ok;
  }
  *ret = a->n < b->n ? -1 : a->n > b->n;
  return true;
}

bool kr_jcompare(kr_jctx *c, kr_jvalue a, kr_jvalue b, const char *op, int *ret) {
  if (a.type == KR_J_UNDEFINED) return kr_jundefined_fail(c, a.undefined);
  if (b.type == KR_J_UNDEFINED) return kr_jundefined_fail(c, b.undefined);
  if (is_number(a) && is_number(b)) {
    *ret = kr_jnumber_compare(a, b);
    return kr_jcharge(c, 0);
  }
  if (a.type == KR_J_STRING && b.type == KR_J_STRING) {
    *ret = compare_strings(a.s, b.s);
    return kr_jcharge(c, a.s->n < b.s->n ? a.s->n : b.s->n);
  }
  if (a.type == b.type && (a.type == KR_J_LIST || a.type == KR_J_TUPLE))
    return compare_lists(c, a.list, b.list, op, ret);
  return kr_jfail(c, "TypeError", "'%s' not supported between instances of '%s' and '%s'", op,
                  kr_jtype_name(a), kr_jtype_name(b));
}

static bool contains_text(kr_jctx *c, const kr_jstring *text, kr_jvalue item, bool *ret) {
  if (item.type != KR_J_STRING)
    return kr_jfail(c, "TypeError", "'in <string>' requires string as left operand, not %s",
                    kr_jtype_name(item));
  size_t at;
  if (!kr_jfind(c, text, 0, item.s, &at)) return false;
  return *ret = at != SIZE_MAX, true;
}

bool kr_jcontains(kr_jctx *c, kr_jvalue container, kr_jvalue item, bool *ret) {
  *ret = false;
  const kr_jdict *dict = container.type == KR_J_DICT ? container.dict
                         : container.type == KR_J_VIEW && container.view->kind == KR_J_KEYS
                             ? container.view->dict
                             : NULL;
  if (container.type == KR_J_STRING) return contains_text(c, container.s, item, ret);
  if (dict) {
    kr_jvalue found;
    if (!kr_jdict_get(c, dict, item, &found)) return false;
    return *ret = found.type != KR_J_MISSING, true;
  }
  if (!kr_jiterable(container))
    return kr_jfail(c, "TypeError", "argument of type '%s' is not iterable",
                    kr_jtype_name(container));
  kr_jiterator it;
  kr_jvalue other;
  if (!kr_jiterate(c, container, &it)) return false;
  while (!*ret) {
    if (!kr_jnext(c, &it, &other)) return false;
    if (other.type == KR_J_MISSING) return true;
    if (!kr_jequal(c, other, item, ret)) return false;
  }
  return true;
}
