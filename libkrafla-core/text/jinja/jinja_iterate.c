/* Going through values. */
#include "base/utf8.h"
#include "text/jinja/jinja_run.h"

bool kr_jiterable(kr_jvalue v) {
  switch (v.type) {
  case KR_J_UNDEFINED:
  case KR_J_STRING:
  case KR_J_LIST:
  case KR_J_TUPLE:
  case KR_J_DICT:
  case KR_J_VIEW:
  case KR_J_RANGE:
  case KR_J_GENERATOR:
  case KR_J_LOOP:
    return true;
  default:
    return false;
  }
}

bool kr_jiterate(kr_jctx *c, kr_jvalue v, kr_jiterator *ret) {
  *ret = (kr_jiterator){.of = v};
  if (!kr_jiterable(v))
    return kr_jfail(c, "TypeError", "'%s' object is not iterable", kr_jtype_name(v));
  return true;
}

static bool next_point(kr_jctx *c, kr_jiterator *it, kr_jvalue *ret) {
  const kr_jstring *s = it->of.s;
  if (it->at >= s->n) return true;
  uint32_t code;
  size_t n = kr_utf8_next((const uint8_t *)s->p + it->at, s->n - it->at, &code);
  if (!kr_jstring_part(c, s, it->at, n, ret)) return false;
  ret->s->markup = false; /* iterating a Markup gives plain strings */
  it->at += n;
  return true;
}

static bool next_entry(kr_jctx *c, kr_jiterator *it, kr_jvalue *ret) {
  bool view = it->of.type == KR_J_VIEW;
  const kr_jdict *dict = view ? it->of.view->dict : it->of.dict;
  if (it->at >= dict->n) return true;
  const kr_jentry *e = &dict->entries[it->at++];
  if (view && it->of.view->kind == KR_J_ITEMS) return kr_jpair(c, e->key, e->value, ret);
  *ret = view && it->of.view->kind == KR_J_VALUES ? e->value : e->key;
  return true;
}

bool kr_jnext(kr_jctx *c, kr_jiterator *it, kr_jvalue *ret) {
  *ret = kr_jmissing();
  if (--c->steps < 0) return kr_jcharge(c, 0);
  switch (it->of.type) {
  case KR_J_STRING:
    return next_point(c, it, ret);
  case KR_J_LIST:
  case KR_J_TUPLE:
    if (it->at < it->of.list->n) *ret = it->of.list->items[it->at++];
    return true;
  case KR_J_DICT:
  case KR_J_VIEW:
    return next_entry(c, it, ret);
  case KR_J_RANGE: {
    const kr_jrange *r = it->of.range;
    if ((int64_t)it->at < r->n) *ret = kr_jint(r->start + (int64_t)it->at++ * r->step);
    return true;
  }
  case KR_J_GENERATOR: {
    kr_jgenerator *g = it->of.generator;
    if (g->next < g->items->n) *ret = g->items->items[g->next++];
    return true;
  }
  case KR_J_LOOP:
    return kr_jloop_next(c, it->of.loop, ret);
  default:
    return true;
  }
}

bool kr_jlist_of(kr_jctx *c, kr_jvalue v, kr_jlist **ret) {
  kr_jiterator it;
  kr_jvalue item;
  int64_t n;
  if (!kr_jiterate(c, v, &it)) return false;
  if (v.type == KR_J_STRING || !kr_jlength(c, v, false, &n) || n < 0) n = 0;
  kr_jlist *list = kr_jlist_new(c, (size_t)n);
  if (!list) return false;
  for (;;) {
    if (!kr_jnext(c, &it, &item)) return false;
    if (item.type == KR_J_MISSING) break;
    if (!kr_jlist_add(c, list, item)) return false;
  }
  *ret = list;
  return true;
}
