/* The merging of byte-pair encoding: by search for short pieces, with a heap for long ones. */
#include "text/merge.h"

#define SHORT 40 /* symbols; about where the heap overtakes the search */

static size_t merge_short(kr_pair_fn *pair, const void *rules, const uint8_t *piece,
                          kr_symbol *symbols, size_t n) {
  kr_pair pairs[SHORT]; /* pairs[i]: of symbols i and i + 1 */
  for (size_t i = 0; i + 1 < n; i++) pairs[i] = pair(rules, piece, &symbols[i], &symbols[i + 1]);
  while (n > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < n; i++)
      if (pairs[i].priority < pairs[best].priority) best = i;
    if (pairs[best].priority == KR_PAIR_NONE) break;
    symbols[best].id = pairs[best].id;
    symbols[best].n += symbols[best + 1].n;
    n--;
    for (size_t i = best + 1; i < n; i++) symbols[i] = symbols[i + 1];
    for (size_t i = best; i + 1 < n; i++) pairs[i] = pairs[i + 1];
    if (best) pairs[best - 1] = pair(rules, piece, &symbols[best - 1], &symbols[best]);
    if (best + 1 < n) pairs[best] = pair(rules, piece, &symbols[best], &symbols[best + 1]);
  }
  return n;
}

/* ---- long pieces ---------------------------------------------------------------------------- */

#define NOWHERE UINT32_MAX

typedef struct node {
  kr_pair pair; /* with the next symbol */
  uint32_t prev, next;
} node;

/* The keys are priority << 32 | position, so that the least key is the merge to be done next. A key
 * whose priority is no longer that of its position is out of date. */
typedef struct heap {
  uint64_t *keys;
  size_t n;
} heap;

static void heap_down(heap *h, size_t i) {
  uint64_t key = h->keys[i];
  for (size_t child; (child = 2 * i + 1) < h->n; i = child) {
    if (child + 1 < h->n && h->keys[child + 1] < h->keys[child]) child++;
    if (h->keys[child] >= key) break;
    h->keys[i] = h->keys[child];
  }
  h->keys[i] = key;
}

static void heap_push(heap *h, uint64_t key) {
  size_t i = h->n++;
  for (size_t parent; i && h->keys[parent = (i - 1) / 2] > key; i = parent)
    h->keys[i] = h->keys[parent];
  h->keys[i] = key;
}

static uint64_t heap_pop(heap *h) {
  uint64_t key = h->keys[0];
  h->keys[0] = h->keys[--h->n];
  if (h->n) heap_down(h, 0);
  return key;
}

static size_t merge_long(kr_pair_fn *pair, const void *rules, const uint8_t *piece,
                         kr_symbol *symbols, size_t n, node *nodes, heap *h) {
  for (size_t i = 0; i < n; i++) {
    bool last = i + 1 == n;
    nodes[i] =
        (node){{KR_PAIR_NONE, -1}, i ? (uint32_t)i - 1 : NOWHERE, last ? NOWHERE : (uint32_t)i + 1};
    if (!last) nodes[i].pair = pair(rules, piece, &symbols[i], &symbols[i + 1]);
    if (nodes[i].pair.priority != KR_PAIR_NONE)
      h->keys[h->n++] = (uint64_t)nodes[i].pair.priority << 32 | i;
  }
  for (size_t i = h->n / 2; i-- > 0;) heap_down(h, i);
  while (h->n) {
    uint64_t key = heap_pop(h);
    uint32_t a = (uint32_t)key;
    if (nodes[a].pair.priority != key >> 32) continue;
    uint32_t b = nodes[a].next, next = nodes[b].next, prev = nodes[a].prev;
    symbols[a].id = nodes[a].pair.id;
    symbols[a].n += symbols[b].n;
    nodes[b].pair.priority = KR_PAIR_NONE;
    symbols[b].id = -1;
    nodes[a].next = next;
    nodes[a].pair.priority = KR_PAIR_NONE;
    if (next != NOWHERE) {
      nodes[next].prev = a;
      nodes[a].pair = pair(rules, piece, &symbols[a], &symbols[next]);
      if (nodes[a].pair.priority != KR_PAIR_NONE)
        heap_push(h, (uint64_t)nodes[a].pair.priority << 32 | a);
    }
    if (prev != NOWHERE) {
      nodes[prev].pair = pair(rules, piece, &symbols[prev], &symbols[a]);
      if (nodes[prev].pair.priority != KR_PAIR_NONE)
        heap_push(h, (uint64_t)nodes[prev].pair.priority << 32 | prev);
    }
  }
  size_t kept = 0;
  for (uint32_t i = 0; i != NOWHERE; i = nodes[i].next) symbols[kept++] = symbols[i];
  return kept;
}

size_t kr_merge(kr_pair_fn *pair, const void *rules, const uint8_t *piece, kr_symbol *symbols,
                size_t n, kr_merge_room *room) {
  if (n < 2) return n;
  if (n <= SHORT) return merge_short(pair, rules, piece, symbols, n);
  if (n >= NOWHERE) return SIZE_MAX;
  /* at first a key for each pair; a merge takes one away and adds at most two, and there are at
   * most n - 1 merges */
  size_t bytes;
  if (!kr_mul_size(n, sizeof(node) + 2 * sizeof(uint64_t), &bytes)) return SIZE_MAX;
  if (bytes > room->size) {
    void *block = kr_array_grow(room->block, bytes, 1);
    if (!block) return SIZE_MAX;
    room->block = block, room->size = bytes;
  }
  heap h = {room->block, 0};
  return merge_long(pair, rules, piece, symbols, n, (node *)(h.keys + 2 * n), &h);
}
