/* A merge sort, bottom up. */
#include "text/jinja/jinja_sort.h"

typedef struct pair {
  kr_jvalue key, item;
} pair;

/* Merges from[low..middle) and from[middle..high) into to. */
static bool merge(kr_jctx *c, const pair *from, size_t low, size_t middle, size_t high,
                  bool reverse, pair *to) {
  size_t a = low, b = middle;
  for (size_t i = low; i < high; i++) {
    bool second = a == middle;
    if (a < middle && b < high) {
      int order;
      if (!kr_jcompare(c, from[reverse ? a : b].key, from[reverse ? b : a].key, "<", &order))
        return false;
      second = order == -1;
    }
    to[i] = second ? from[b++] : from[a++];
  }
  return true;
}

bool kr_jsort(kr_jctx *c, kr_jlist *items, kr_jlist *keys, bool reverse) {
  size_t n = items->n;
  pair *from = kr_jalloc(c, n, sizeof *from), *to = kr_jalloc(c, n, sizeof *to);
  if (!from || !to) return false;
  for (size_t i = 0; i < n; i++) from[i] = (pair){keys->items[i], items->items[i]};
  for (size_t width = 1; width < n; width *= 2) {
    if (!kr_jcharge(c, n * sizeof *from)) return false;
    for (size_t low = 0; low < n; low += 2 * width) {
      size_t middle = n - low < width ? n : low + width;
      size_t high = n - middle < width ? n : middle + width;
      if (!merge(c, from, low, middle, high, reverse, to)) return false;
    }
    pair *other = from;
    from = to, to = other;
  }
  for (size_t i = 0; i < n; i++) keys->items[i] = from[i].key, items->items[i] = from[i].item;
  return true;
}
