/* Filters of sequences and mappings. Those that are generators in Jinja give what can be read once.
 */
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_sort.h"

#define FILTER(name)                                                                               \
  static bool name(kr_jrun *r, kr_jvalue v, const kr_jvalue *arg, const kr_jargs *args,            \
                   kr_jvalue *ret)
#define UNUSED (void)arg, (void)args

FILTER(do_length) {
  int64_t n;
  UNUSED;
  if (!kr_jlength(r->c, v, true, &n)) return false;
  *ret = kr_jint(n);
  return true;
}

FILTER(do_default) {
  UNUSED;
  bool absent = v.type == KR_J_UNDEFINED || (kr_jtruth(arg[1]) && !kr_jtruth(v));
  *ret = v;
  if (!absent) return true;
  *ret = arg[0];
  return arg[0].type != KR_J_MISSING || kr_jstring_text(r->c, "", ret);
}

FILTER(do_first) {
  kr_jiterator it;
  UNUSED;
  if (!kr_jiterate(r->c, v, &it) || !kr_jnext(r->c, &it, ret)) return false;
  return ret->type != KR_J_MISSING ||
         kr_jundefined_hint(r->c, "No first item, sequence was empty.", ret);
}

static bool not_reversible(kr_jrun *r, kr_jvalue v) {
  return kr_jfail(r->c, "TypeError", "'%s' object is not reversible", kr_jtype_name(v));
}

FILTER(do_last) {
  kr_jlist *items;
  int64_t n;
  UNUSED;
  if (!kr_jlength(r->c, v, false, &n)) return false;
  if (n < 0) return not_reversible(r, v);
  if (n > 0 && (v.type == KR_J_STRING || v.type == KR_J_LIST || v.type == KR_J_TUPLE ||
                v.type == KR_J_RANGE))
    return kr_jgetitem(r->c, v, kr_jint(-1), ret);
  if (!kr_jlist_of(r->c, v, &items)) return false;
  if (!items->n) return kr_jundefined_hint(r->c, "No last item, sequence was empty.", ret);
  *ret = items->items[items->n - 1];
  return true;
}

FILTER(do_list) {
  kr_jlist *list;
  UNUSED;
  if (!kr_jlist_of(r->c, v, &list)) return false;
  *ret = kr_jobject(KR_J_LIST, list);
  return true;
}

FILTER(do_reverse) {
  kr_jlist *list;
  kr_jvalue bounds[3] = {kr_jnone(), kr_jnone(), kr_jint(-1)};
  UNUSED;
  if (v.type == KR_J_STRING) return kr_jgetslice(r->c, v, bounds, ret);
  if (!kr_jiterable(v)) return kr_jfail(r->c, "FilterArgumentError", "argument must be iterable");
  if (!kr_jlist_of(r->c, v, &list)) return false;
  for (size_t i = 0; i < list->n / 2; i++) {
    kr_jvalue other = list->items[i];
    list->items[i] = list->items[list->n - 1 - i];
    list->items[list->n - 1 - i] = other;
  }
  return kr_jgenerator_of(r->c, list, ret);
}

FILTER(do_items) {
  kr_jlist *list;
  UNUSED;
  if (v.type == KR_J_UNDEFINED) {
    if (!(list = kr_jlist_new(r->c, 0))) return false;
  } else {
    if (v.type != KR_J_DICT)
      return kr_jfail(r->c, "TypeError", "Can only get item pairs from a mapping.");
    kr_jview view = {.dict = v.dict, .kind = KR_J_ITEMS};
    if (!kr_jlist_of(r->c, kr_jobject(KR_J_VIEW, &view), &list)) return false;
  }
  return kr_jgenerator_of(r->c, list, ret);
}

FILTER(do_join) {
  kr_jiterator it;
  kr_jvalue item;
  const kr_jstring *by = NULL;
  size_t mark = r->c->n_out;
  UNUSED;
  if (arg[0].type != KR_J_MISSING && !kr_jsoft(r->c, arg[0], &by)) return false;
  if (!kr_jiterate(r->c, v, &it)) return false;
  for (bool first = true;; first = false) {
    if (!kr_jnext(r->c, &it, &item)) return false;
    if (item.type == KR_J_MISSING) break;
    if (!first && by && !kr_jout(r->c, by->p, by->n)) return false;
    if (!kr_jattribute(r, item, arg[1], kr_jmissing(), &item) || !kr_jwrite_str(r->c, item))
      return false;
  }
  return kr_jtake(r->c, mark, ret);
}

/* ---- order ------------------------------------------------------------------------------------
 */

/* The keys of a sort: one for each attribute in "a,b.c"; a single attribute is its key itself. */
static bool sort_key(kr_jrun *r, kr_jvalue item, kr_jvalue attribute, bool sensitive,
                     kr_jvalue *ret) {
  kr_jlist *keys = kr_jlist_new(r->c, 1), *parts = NULL;
  kr_jvalue comma, key;
  if (!keys) return false;
  if (attribute.type == KR_J_STRING && (!kr_jstring_text(r->c, ",", &comma) ||
                                        !kr_jsplit(r->c, attribute.s, comma, -1, false, &parts)))
    return false;
  for (size_t i = 0; i < (parts ? parts->n : 1); i++) {
    if (!kr_jattribute(r, item, parts ? parts->items[i] : attribute, kr_jmissing(), &key) ||
        !kr_jignore_case(r->c, key, sensitive, &key) || !kr_jlist_add(r->c, keys, key))
      return false;
  }
  *ret = kr_jobject(KR_J_LIST, keys);
  return true;
}

FILTER(do_sort) {
  kr_jlist *list, *keys;
  UNUSED;
  if (!kr_jlist_of(r->c, v, &list) || !(keys = kr_jlist_new(r->c, list->n))) return false;
  for (size_t i = 0; i < list->n; i++) {
    kr_jvalue key;
    if (!sort_key(r, list->items[i], arg[2], kr_jtruth(arg[1]), &key) ||
        !kr_jlist_add(r->c, keys, key))
      return false;
  }
  if (!kr_jsort(r->c, list, keys, kr_jtruth(arg[0]))) return false;
  *ret = kr_jobject(KR_J_LIST, list);
  return true;
}

FILTER(do_dictsort) {
  kr_jlist *list, *keys;
  int by = 0;
  UNUSED;
  if (arg[1].type == KR_J_STRING && kr_jequals(arg[1].s, "value"))
    by = 1;
  else if (arg[1].type != KR_J_MISSING &&
           (arg[1].type != KR_J_STRING || !kr_jequals(arg[1].s, "key")))
    return kr_jfail(r->c, "FilterArgumentError",
                    "You can only sort by either \"key\" or \"value\"");
  if (v.type == KR_J_UNDEFINED) return kr_jundefined_fail(r->c, v.undefined);
  if (v.type != KR_J_DICT)
    return kr_jfail(r->c, "AttributeError", "'%s' object has no attribute 'items'",
                    kr_jtype_name(v));
  kr_jview view = {.dict = v.dict, .kind = KR_J_ITEMS};
  if (!kr_jlist_of(r->c, kr_jobject(KR_J_VIEW, &view), &list) ||
      !(keys = kr_jlist_new(r->c, list->n)))
    return false;
  for (size_t i = 0; i < list->n; i++) {
    kr_jvalue key;
    if (!kr_jignore_case(r->c, list->items[i].list->items[by], kr_jtruth(arg[0]), &key) ||
        !kr_jlist_add(r->c, keys, key))
      return false;
  }
  if (!kr_jsort(r->c, list, keys, kr_jtruth(arg[2]))) return false;
  *ret = kr_jobject(KR_J_LIST, list);
  return true;
}

FILTER(do_unique) {
  kr_jdict *seen = kr_jdict_new(r->c);
  kr_jlist *list, *kept = kr_jlist_new(r->c, 4);
  UNUSED;
  if (!seen || !kept || !kr_jlist_of(r->c, v, &list)) return false;
  for (size_t i = 0; i < list->n; i++) {
    kr_jvalue key, found;
    if (!kr_jattribute(r, list->items[i], arg[1], kr_jmissing(), &key) ||
        !kr_jignore_case(r->c, key, kr_jtruth(arg[0]), &key) ||
        !kr_jdict_get(r->c, seen, key, &found))
      return false;
    if (found.type != KR_J_MISSING) continue;
    if (!kr_jdict_set(r->c, seen, key, kr_jbool(true)) || !kr_jlist_add(r->c, kept, list->items[i]))
      return false;
  }
  return kr_jgenerator_of(r->c, kept, ret);
}

static bool extreme(kr_jrun *r, kr_jvalue v, const kr_jvalue *arg, bool max, kr_jvalue *ret) {
  kr_jiterator it;
  kr_jvalue item, key, best = kr_jmissing();
  if (!kr_jiterate(r->c, v, &it)) return false;
  *ret = kr_jmissing();
  for (;;) {
    int order = 0;
    if (!kr_jnext(r->c, &it, &item)) return false;
    if (item.type == KR_J_MISSING) break;
    if (!kr_jattribute(r, item, arg[1], kr_jmissing(), &key) ||
        !kr_jignore_case(r->c, key, kr_jtruth(arg[0]), &key) ||
        (best.type != KR_J_MISSING && !kr_jcompare(r->c, key, best, max ? ">" : "<", &order)))
      return false;
    if (best.type == KR_J_MISSING || order == (max ? 1 : -1)) best = key, *ret = item;
  }
  return ret->type != KR_J_MISSING ||
         kr_jundefined_hint(r->c, "No aggregated item, sequence was empty.", ret);
}

FILTER(do_min) {
  UNUSED;
  return extreme(r, v, arg, false, ret);
}

FILTER(do_max) {
  UNUSED;
  return extreme(r, v, arg, true, ret);
}

/* ---- groups -----------------------------------------------------------------------------------
 */

static bool add_group(kr_jctx *c, kr_jlist *groups, kr_jvalue name, kr_jlist **ret) {
  kr_jlist *items = kr_jlist_new(c, 4);
  kr_jvalue pair;
  if (!items || !kr_jpair(c, name, kr_jobject(KR_J_LIST, items), &pair)) return false;
  pair.list->group = true;
  *ret = items;
  return kr_jlist_add(c, groups, pair);
}

FILTER(do_groupby) {
  kr_jlist *list, *keys, *groups = kr_jlist_new(r->c, 4), *group = NULL;
  bool sensitive = kr_jtruth(arg[2]), same = false;
  kr_jvalue last = kr_jmissing();
  UNUSED;
  if (!groups || !kr_jlist_of(r->c, v, &list) || !(keys = kr_jlist_new(r->c, list->n)))
    return false;
  for (size_t i = 0; i < list->n; i++) {
    kr_jvalue key;
    if (!kr_jattribute(r, list->items[i], arg[0], arg[1], &key) ||
        !kr_jignore_case(r->c, key, sensitive, &key) || !kr_jlist_add(r->c, keys, key))
      return false;
  }
  if (!kr_jsort(r->c, list, keys, false)) return false;
  for (size_t i = 0; i < list->n; i++) {
    kr_jvalue name;
    if (group && !kr_jequal(r->c, last, keys->items[i], &same)) return false;
    if (!group || !same) {
      if (!kr_jattribute(r, list->items[i], arg[0], arg[1], &name) ||
          !add_group(r->c, groups, name, &group))
        return false;
    }
    last = keys->items[i];
    if (!kr_jlist_add(r->c, group, list->items[i])) return false;
  }
  *ret = kr_jobject(KR_J_LIST, groups);
  return true;
}

static bool add_part(kr_jctx *c, kr_jlist *to, const kr_jlist *from, size_t at, size_t end,
                     size_t fill, kr_jvalue with) {
  kr_jlist *part = kr_jlist_new(c, end - at + fill);
  if (!part) return false;
  for (; at < end; at++)
    if (!kr_jlist_add(c, part, from->items[at])) return false;
  while (fill--)
    if (!kr_jlist_add(c, part, with)) return false;
  return kr_jlist_add(c, to, kr_jobject(KR_J_LIST, part));
}

FILTER(do_batch) {
  kr_jlist *list, *parts = kr_jlist_new(r->c, 4);
  int64_t size;
  UNUSED;
  if (!parts || !kr_jlist_of(r->c, v, &list) || !kr_jarg_int(r->c, arg[0], 0, &size)) return false;
  bool fills = arg[1].type != KR_J_MISSING && arg[1].type != KR_J_NONE;
  if (size < 1) size = INT64_MAX; /* a length that is never reached */
  for (size_t at = 0; at < list->n;) {
    size_t left = list->n - at, n = (uint64_t)size < left ? (size_t)size : left;
    size_t fill = fills && size != INT64_MAX ? (size_t)size - n : 0;
    if (!add_part(r->c, parts, list, at, at + n, fill, arg[1])) return false;
    at += n;
  }
  return kr_jgenerator_of(r->c, parts, ret);
}

FILTER(do_slice) {
  kr_jlist *list, *parts = kr_jlist_new(r->c, 4);
  int64_t slices;
  UNUSED;
  if (!parts || !kr_jlist_of(r->c, v, &list) || !kr_jarg_int(r->c, arg[0], 0, &slices))
    return false;
  bool fills = arg[1].type != KR_J_MISSING && arg[1].type != KR_J_NONE;
  if (slices == 0) return kr_jfail(r->c, "ZeroDivisionError", "integer division or modulo by zero");
  size_t at = 0;
  for (int64_t i = 0; i < slices; i++) {
    size_t n = (size_t)((int64_t)list->n / slices), extra = (size_t)((int64_t)list->n % slices);
    bool larger = (uint64_t)i < extra;
    if (!add_part(r->c, parts, list, at, at + n + larger, fills && !larger, arg[1])) return false;
    at += n + larger;
  }
  return kr_jgenerator_of(r->c, parts, ret);
}

const kr_jbuiltin kr_jfilters_list[] = {
    {"batch", "linecount ! fill_with", do_batch},
    {"count", "", do_length},
    {"d", "default_value boolean", do_default},
    {"default", "default_value boolean", do_default},
    {"dictsort", "case_sensitive by reverse", do_dictsort},
    {"first", "", do_first},
    {"groupby", "attribute ! default case_sensitive", do_groupby},
    {"items", "", do_items},
    {"join", "d attribute", do_join},
    {"last", "", do_last},
    {"length", "", do_length},
    {"list", "", do_list},
    {"max", "case_sensitive attribute", do_max},
    {"min", "case_sensitive attribute", do_min},
    {"reverse", "", do_reverse},
    {"slice", "slices ! fill_with", do_slice},
    {"sort", "reverse case_sensitive attribute", do_sort},
    {"unique", "case_sensitive attribute", do_unique},
    {NULL},
};
