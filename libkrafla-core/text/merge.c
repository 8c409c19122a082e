/* The merging of byte-pair encoding: by search for short pieces, with a heap for long ones, and by
 * walking the list of merges for very long ones. */
#include "text/merge.h"

#define SHORT 40 /* symbols; about where the heap overtakes the search */
#define WALK  8  /* places of the list a symbol; about where walking it overtakes the heap */

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

/* ---- long pieces -------------------------------------------------------------------------------
 *
 * Merges to be done wait in a heap; where priorities are places in a list and the piece is so long
 * that walking that list costs little, those behind the place where the walk is wait in a bucket
 * for each place instead, and the heap has only what a list in no natural order makes: a pair that
 * stands before the one that made it. */

#define NOWHERE UINT32_MAX

typedef struct node {
  kr_pair pair;           /* with the next symbol */
  uint32_t prev, next;    /* symbols */
  uint32_t before, after; /* in the bucket */
} node;

typedef struct bucket {
  uint32_t first, last;
} bucket;

typedef struct merger {
  kr_pair_fn *pair;
  const void *rules;
  const uint8_t *piece;
  kr_symbol *symbols;
  node *nodes;
  bucket *buckets;
  uint32_t *batch, *spare; /* positions of the bucket that is being worked on; room to sort them */
  /* The heap's keys are priority << 32 | position, so that the least key is the merge to be done
   * next. A key whose priority is no longer that of its position is out of date. */
  uint64_t *keys;
  size_t n_keys;
  uint32_t walked; /* priorities below are the heap's */
} merger;

static void heap_push(merger *m, uint64_t key) {
  size_t i = m->n_keys++;
  for (size_t parent; i && m->keys[parent = (i - 1) / 2] > key; i = parent)
    m->keys[i] = m->keys[parent];
  m->keys[i] = key;
}

static uint64_t heap_pop(merger *m) {
  uint64_t least = m->keys[0], key = m->keys[--m->n_keys];
  size_t i = 0;
  for (size_t child; (child = 2 * i + 1) < m->n_keys; i = child) {
    if (child + 1 < m->n_keys && m->keys[child + 1] < m->keys[child]) child++;
    if (m->keys[child] >= key) break;
    m->keys[i] = m->keys[child];
  }
  m->keys[i] = key;
  return least;
}

/* Finds the pair of the symbol at at with the next, and puts it where it waits. */
static void enter(merger *m, uint32_t at) {
  node *nodes = m->nodes, *x = &nodes[at];
  x->pair = (kr_pair){KR_PAIR_NONE, -1};
  if (x->next == NOWHERE) return;
  x->pair = m->pair(m->rules, m->piece, &m->symbols[at], &m->symbols[x->next]);
  uint32_t priority = x->pair.priority;
  if (priority == KR_PAIR_NONE) return;
  if (priority < m->walked) {
    heap_push(m, (uint64_t)priority << 32 | at);
    return;
  }
  bucket *b = &m->buckets[priority];
  x->before = b->last, x->after = NOWHERE;
  if (b->last == NOWHERE)
    b->first = at;
  else
    nodes[b->last].after = at;
  b->last = at;
}

/* Takes a pair out of its bucket; keys of the heap stay, out of date. */
static void leave(merger *m, uint32_t at) {
  node *nodes = m->nodes, *x = &nodes[at];
  uint32_t priority = x->pair.priority;
  x->pair.priority = KR_PAIR_NONE;
  if (priority == KR_PAIR_NONE || priority < m->walked) return;
  bucket *b = &m->buckets[priority];
  if (x->before == NOWHERE)
    b->first = x->after;
  else
    nodes[x->before].after = x->after;
  if (x->after == NOWHERE)
    b->last = x->before;
  else
    nodes[x->after].before = x->before;
}

static void merge_at(merger *m, uint32_t a) {
  node *nodes = m->nodes;
  uint32_t b = nodes[a].next, next = nodes[b].next, prev = nodes[a].prev;
  m->symbols[a].id = nodes[a].pair.id;
  m->symbols[a].n += m->symbols[b].n;
  m->symbols[b].id = -1;
  leave(m, b);
  nodes[a].next = next;
  if (next != NOWHERE) nodes[next].prev = a;
  enter(m, a);
  if (prev == NOWHERE) return;
  leave(m, prev);
  enter(m, prev);
}

/* Empties a bucket into batch, in the order of positions; returns their number. They entered it in
 * a few ascending runs, which are merged two by two. */
static size_t gather(merger *m, bucket *b) {
  size_t n = 0, runs = 1;
  for (uint32_t at = b->first; at != NOWHERE; at = m->nodes[at].after) {
    runs += n && at < m->batch[n - 1];
    m->batch[n++] = at;
  }
  *b = (bucket){NOWHERE, NOWHERE};
  for (; runs > 1; runs = (runs + 1) / 2) {
    const uint32_t *from = m->batch;
    uint32_t *to = m->spare;
    for (size_t i = 0, middle, end, k = 0; i < n; i = end) {
      for (middle = i + 1; middle < n && from[middle] > from[middle - 1];) middle++;
      for (end = middle + (middle < n); end < n && from[end] > from[end - 1];) end++;
      for (size_t x = i, y = middle; x < middle || y < end;)
        to[k++] = y == end || (x < middle && from[x] < from[y]) ? from[x++] : from[y++];
    }
    m->spare = m->batch, m->batch = to;
  }
  return n;
}

/* Does the merges of batch [n], of one priority, and all that come before them. */
static void work(merger *m, uint32_t priority, size_t n) {
  for (size_t i = 0; i < n || m->n_keys;) {
    uint64_t key = i < n ? (uint64_t)priority << 32 | m->batch[i] : UINT64_MAX;
    if (m->n_keys && m->keys[0] < key)
      key = heap_pop(m);
    else
      i++;
    if (m->nodes[(uint32_t)key].pair.priority == key >> 32) merge_at(m, (uint32_t)key);
  }
}

static size_t merge_long(merger *m, size_t n, size_t n_ranks) {
  for (size_t r = 0; r < n_ranks; r++) m->buckets[r] = (bucket){NOWHERE, NOWHERE};
  m->walked = n_ranks ? 0 : KR_PAIR_NONE;
  for (size_t i = 0; i < n; i++) {
    m->nodes[i].prev = i ? (uint32_t)i - 1 : NOWHERE;
    m->nodes[i].next = i + 1 < n ? (uint32_t)i + 1 : NOWHERE;
    enter(m, (uint32_t)i);
  }
  for (size_t r = 0; r < n_ranks; r++) {
    m->walked = (uint32_t)r + 1;
    size_t count = gather(m, &m->buckets[r]);
    work(m, (uint32_t)r, count);
  }
  work(m, 0, 0);
  size_t kept = 0;
  for (uint32_t i = 0; i != NOWHERE; i = m->nodes[i].next) m->symbols[kept++] = m->symbols[i];
  return kept;
}

/* The room for a piece; false when memory is gone. */
static bool make_room(merger *m, size_t n, size_t n_ranks, kr_merge_room *room) {
  /* The heap: at first a key for each pair; a merge takes one away and adds at most two, and there
   * are at most n - 1 merges. With buckets it starts empty. */
  size_t bytes, more, each = 2 * sizeof(uint64_t) + sizeof(node) + 2 * sizeof(uint32_t);
  if (!kr_mul_size(n, each, &bytes) || !kr_mul_size(n_ranks, sizeof(bucket), &more) ||
      !kr_add_size(bytes, more, &bytes))
    return false;
  if (bytes > room->size) {
    void *block = kr_array_grow(room->block, bytes, 1);
    if (!block) return false;
    room->block = block, room->size = bytes;
  }
  m->keys = room->block;
  m->nodes = (node *)(m->keys + 2 * n);
  m->buckets = (bucket *)(m->nodes + n);
  m->batch = (uint32_t *)(m->buckets + n_ranks);
  m->spare = m->batch + n;
  return true;
}

size_t kr_merge(kr_pair_fn *pair, const void *rules, const uint8_t *piece, kr_symbol *symbols,
                size_t n, size_t n_ranks, kr_merge_room *room) {
  if (n < 2) return n;
  if (n <= SHORT) return merge_short(pair, rules, piece, symbols, n);
  if (n >= NOWHERE || n_ranks >= NOWHERE) return SIZE_MAX;
  if (n_ranks / WALK > n) n_ranks = 0;
  merger m = {.pair = pair, .rules = rules, .piece = piece, .symbols = symbols};
  return make_room(&m, n, n_ranks, room) ? merge_long(&m, n, n_ranks) : SIZE_MAX;
}
