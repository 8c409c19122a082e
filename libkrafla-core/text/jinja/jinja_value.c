/* Strings, lists and dicts of templates: making them and looking things up. */
#include "text/jinja/jinja_value.h"
#include "text/jinja/jinja_number.h"

/* ---- strings ----------------------------------------------------------------------------------
 */

bool kr_jstring_of(kr_jctx *c, const char *p, size_t n, kr_jvalue *ret) {
  kr_jstring *s = kr_jalloc(c, 1, sizeof *s);
  if (!s) return false;
  *s = (kr_jstring){.p = p, .n = n, .points = n ? KR_J_UNCOUNTED : 0};
  *ret = kr_jobject(KR_J_STRING, s);
  return true;
}

bool kr_jstring_copy(kr_jctx *c, const char *p, size_t n, kr_jvalue *ret) {
  char *copy = kr_jalloc(c, n ? n : 1, 1);
  if (!copy || !kr_jcharge(c, n)) return false;
  if (n) memcpy(copy, p, n);
  return kr_jstring_of(c, copy, n, ret);
}

bool kr_jstring_text(kr_jctx *c, const char *text, kr_jvalue *ret) {
  return kr_jstring_of(c, text, strlen(text), ret);
}

bool kr_jstring_part(kr_jctx *c, const kr_jstring *s, size_t at, size_t n, kr_jvalue *ret) {
  if (!kr_jstring_of(c, s->p + at, n, ret)) return false;
  if (s->points == s->n) ret->s->points = n;
  ret->s->markup = s->markup;
  return true;
}

bool kr_jconcat(kr_jctx *c, const kr_jstring *a, const char *b, size_t n, kr_jvalue *ret) {
  kr_jroom *room = a->room;
  size_t total, capacity;
  if (!kr_add_size(a->n, n, &total) || !kr_add_size(total, total / 2 + 32, &capacity) ||
      !kr_add_size(capacity, sizeof *room, &capacity))
    return kr_jfail(c, "MemoryError", "a size that overflows");
  bool grows = room && a->p + a->n == room->data + room->used && room->capacity - room->used >= n;
  if (!grows) {
    room = kr_jalloc(c, capacity, 1);
    if (!room || !kr_jcharge(c, a->n)) return false;
    room->capacity = capacity - sizeof *room;
    room->used = a->n;
    if (a->n) memcpy(room->data, a->p, a->n);
  }
  const char *start = room->data + room->used - a->n;
  if (n) memcpy(room->data + room->used, b, n);
  room->used += n;
  if (!kr_jcharge(c, n) || !kr_jstring_of(c, start, total, ret)) return false;
  ret->s->room = room;
  return true;
}

size_t kr_jpoints(const kr_jstring *s) {
  if (s->points != KR_J_UNCOUNTED) return s->points;
  size_t points = 0;
  for (size_t i = 0; i < s->n; i++) points += ((uint8_t)s->p[i] & 0xc0) != 0x80;
  ((kr_jstring *)(uintptr_t)s)->points = points; /* remembered; constants are counted before */
  return points;
}

bool kr_jequals(const kr_jstring *s, const char *text) {
  return s->n == strlen(text) && !memcmp(s->p, text, s->n);
}

/* ---- lists ------------------------------------------------------------------------------------
 */

kr_jlist *kr_jlist_new(kr_jctx *c, size_t capacity) {
  kr_jlist *list = kr_jalloc(c, 1, sizeof *list);
  if (!list || !capacity) return list;
  list->items = kr_jalloc(c, capacity, sizeof *list->items);
  list->capacity = capacity;
  return list->items ? list : NULL;
}

bool kr_jlist_add(kr_jctx *c, kr_jlist *list, kr_jvalue item) {
  if (--c->steps < 0) return kr_jcharge(c, 0);
  if (list->n == list->capacity) {
    kr_jvalue *items =
        kr_jgrow(c, list->items, list->n, sizeof *items, list->n + 1, &list->capacity);
    if (!items) return false;
    list->items = items;
  }
  list->items[list->n++] = item;
  return true;
}

bool kr_jpair(kr_jctx *c, kr_jvalue a, kr_jvalue b, kr_jvalue *ret) {
  kr_jlist *pair = kr_jlist_new(c, 2);
  if (!pair || !kr_jlist_add(c, pair, a) || !kr_jlist_add(c, pair, b)) return false;
  *ret = kr_jobject(KR_J_TUPLE, pair);
  return true;
}

bool kr_jgenerator_of(kr_jctx *c, kr_jlist *items, kr_jvalue *ret) {
  kr_jgenerator *g = kr_jalloc(c, 1, sizeof *g);
  if (!g) return false;
  g->items = items;
  *ret = kr_jobject(KR_J_GENERATOR, g);
  return true;
}

/* ---- dicts ------------------------------------------------------------------------------------
 */

enum { SMALL_DICT = 8 };

static uint64_t mix(uint64_t h, uint64_t x) {
  h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

static uint64_t hash_bytes(const char *p, size_t n) {
  uint64_t h = n, x = 0;
  for (; n >= 8; p += 8, n -= 8) memcpy(&x, p, 8), h = mix(h, x);
  x = 0;
  if (n) memcpy(&x, p, n);
  return mix(h, x);
}

/* Equal values have equal hashes: 1, 1.0 and true; a big integer and its float. */
static uint64_t hash_float(double f) {
  uint64_t bits;
  if (f >= -9223372036854775808.0 && f < 9223372036854775808.0 && f == (double)(int64_t)f)
    return mix(1, (uint64_t)(int64_t)f);
  memcpy(&bits, &f, 8);
  return mix(2, bits);
}

static bool hash(kr_jctx *c, kr_jvalue v, uint64_t *ret) {
  *ret = 0;
  switch (v.type) {
  case KR_J_STRING:
    *ret = hash_bytes(v.s->p, v.s->n);
    return kr_jcharge(c, v.s->n);
  case KR_J_BOOL:
    *ret = mix(1, v.b);
    return true;
  case KR_J_INT:
    *ret = mix(1, (uint64_t)v.i);
    return true;
  case KR_J_BIG:
    *ret = hash_float(kr_jbig_float(v.big));
    return true;
  case KR_J_FLOAT:
    *ret = hash_float(v.f);
    return true;
  case KR_J_NONE:
    *ret = 3;
    return true;
  case KR_J_UNDEFINED:
    *ret = 4;
    return true;
  case KR_J_RANGE:
    *ret = mix(5, (uint64_t)v.range->n);
    return true;
  case KR_J_TUPLE: {
    uint64_t h = 6, item;
    if (!kr_jenter(c)) return false;
    bool ok = true;
    for (size_t i = 0; ok && i < v.list->n; i++)
      if ((ok = hash(c, v.list->items[i], &item))) h = mix(h, item);
    kr_jleave(c);
    *ret = h;
    return ok;
  }
  case KR_J_LIST:
  case KR_J_DICT:
  case KR_J_VIEW:
    return kr_jfail(c, "TypeError", "unhashable type: '%s'", kr_jtype_name(v));
  default:
    *ret = mix(7, (uint64_t)(uintptr_t)v.object);
    return true;
  }
}

kr_jdict *kr_jdict_new(kr_jctx *c) {
  return kr_jalloc(c, 1, sizeof(kr_jdict));
}

static bool same_key(kr_jctx *c, const kr_jentry *e, uint64_t h, kr_jvalue key, bool *ret) {
  if (--c->steps < 0) return kr_jcharge(c, 0);
  *ret = e->hash == h;
  return !*ret || kr_jequal(c, e->key, key, ret);
}

/* *ret: the entry's number, or n. */
static bool find(kr_jctx *c, const kr_jdict *d, uint64_t h, kr_jvalue key, size_t *ret) {
  bool same = false;
  if (!d->index) {
    for (size_t i = 0; i < d->n; i++) {
      if (!same_key(c, &d->entries[i], h, key, &same)) return false;
      if (same) return *ret = i, true;
    }
    return *ret = d->n, true;
  }
  for (size_t at = h & (d->index_size - 1); d->index[at]; at = (at + 1) & (d->index_size - 1)) {
    size_t i = d->index[at] - 1;
    if (!same_key(c, &d->entries[i], h, key, &same)) return false;
    if (same) return *ret = i, true;
  }
  return *ret = d->n, true;
}

static void index_entry(kr_jdict *d, size_t i) {
  size_t at = d->entries[i].hash & (d->index_size - 1);
  while (d->index[at]) at = (at + 1) & (d->index_size - 1);
  d->index[at] = (uint32_t)i + 1;
}

static bool make_room(kr_jctx *c, kr_jdict *d) {
  if (d->n == d->capacity) {
    kr_jentry *entries = kr_jgrow(c, d->entries, d->n, sizeof *entries, d->n + 1, &d->capacity);
    if (!entries) return false;
    d->entries = entries;
  }
  if (d->n + 1 <= SMALL_DICT || d->n + 1 <= d->index_size / 2) return true;
  if (d->n >= UINT32_MAX / 4) return kr_jfail(c, "MemoryError", "a dict that is too large");
  size_t size = d->index_size ? d->index_size * 2 : 4 * SMALL_DICT;
  d->index = kr_jalloc(c, size, sizeof *d->index);
  d->index_size = d->index ? size : 0;
  if (!d->index || !kr_jcharge(c, d->n * sizeof *d->entries)) return false;
  for (size_t i = 0; i < d->n; i++) index_entry(d, i);
  return true;
}

bool kr_jdict_set(kr_jctx *c, kr_jdict *dict, kr_jvalue key, kr_jvalue value) {
  uint64_t h;
  size_t at;
  if (!hash(c, key, &h) || !find(c, dict, h, key, &at)) return false;
  if (at < dict->n) {
    dict->entries[at].value = value;
    return true;
  }
  if (!make_room(c, dict)) return false;
  dict->entries[dict->n++] = (kr_jentry){.hash = h, .key = key, .value = value};
  if (dict->index) index_entry(dict, dict->n - 1);
  return true;
}

bool kr_jdict_get(kr_jctx *c, const kr_jdict *dict, kr_jvalue key, kr_jvalue *ret) {
  uint64_t h;
  size_t at;
  if (!hash(c, key, &h) || !find(c, dict, h, key, &at)) return false;
  *ret = at < dict->n ? dict->entries[at].value : kr_jmissing();
  return true;
}

bool kr_jdict_find(kr_jctx *c, const kr_jdict *dict, const char *key, kr_jvalue *ret) {
  kr_jstring s = {.p = key, .n = strlen(key), .points = KR_J_UNCOUNTED};
  return kr_jdict_get(c, dict, kr_jobject(KR_J_STRING, &s), ret);
}

/* ---- undefined values -------------------------------------------------------------------------
 */

bool kr_jundefined_hint(kr_jctx *c, const char *hint, kr_jvalue *ret) {
  kr_jundefined *u = kr_jalloc(c, 1, sizeof *u);
  if (!u) return false;
  u->hint = hint;
  *ret = kr_jobject(KR_J_UNDEFINED, u);
  return true;
}

bool kr_jundefined_name(kr_jctx *c, kr_jvalue object, kr_jvalue name, bool unsafe, kr_jvalue *ret) {
  kr_jundefined *u = kr_jalloc(c, 1, sizeof *u);
  if (!u) return false;
  *u = (kr_jundefined){.object = object, .name = name, .unsafe = unsafe};
  *ret = kr_jobject(KR_J_UNDEFINED, u);
  return true;
}

bool kr_jundefined_fail(kr_jctx *c, const kr_jundefined *u) {
  const char *kind = u->unsafe ? "SecurityError" : "UndefinedError";
  const char *type = u->object.type == KR_J_NONE ? "None" : kr_jtype_name(u->object);
  const char *object = u->object.type == KR_J_NONE ? "" : " object";
  if (u->hint) return kr_jfail(c, kind, "%s", u->hint);
  if (u->name.type != KR_J_STRING) {
    kr_jvalue name;
    if (!kr_jrepr(c, u->name, &name)) return false;
    return kr_jfail(c, kind, "%s%s has no element %.*s", type, object,
                    (int)(name.s->n < 80 ? name.s->n : 80), name.s->p);
  }
  int n = (int)(u->name.s->n < 80 ? u->name.s->n : 80);
  const char *name = u->name.s->p;
  if (u->object.type == KR_J_MISSING) return kr_jfail(c, kind, "'%.*s' is undefined", n, name);
  if (u->unsafe)
    return kr_jfail(c, kind, "access to attribute '%.*s' of '%s' object is unsafe.", n, name,
                    kr_jtype_name(u->object));
  return kr_jfail(c, kind, "'%s%s' has no attribute '%.*s'", type, object, n, name);
}
