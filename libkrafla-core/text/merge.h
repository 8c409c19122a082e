/* The merging of byte-pair encoding: of all neighbours that may merge, those of the lowest priority
 * do, the leftmost first, until none may. */
#ifndef KR_TEXT_MERGE_H
#define KR_TEXT_MERGE_H

#include "text/buffer.h"

typedef struct kr_symbol {
  int32_t id;
  uint32_t at, n; /* the bytes of the piece that it covers */
} kr_symbol;

typedef struct kr_pair {
  uint32_t priority;
  int32_t id; /* the token that both become */
} kr_pair;

#define KR_PAIR_NONE UINT32_MAX /* the priority of a pair that does not merge */

/* What two neighbours become. rules is the caller's. */
typedef kr_pair kr_pair_fn(const void *rules, const uint8_t *piece, const kr_symbol *a,
                           const kr_symbol *b);

/* Room that calls share. Zero at first. */
typedef struct kr_merge_room {
  void *block; /* kr_array_free */
  size_t size; /* bytes */
} kr_merge_room;

/* Merges symbols [n] of a piece in place and returns how many are left; SIZE_MAX when memory is
 * gone or n is over 2^32 - 2. n_ranks: all priorities are below, or 0; below 2^32 - 1. n log n for
 * long pieces. */
size_t kr_merge(kr_pair_fn *pair, const void *rules, const uint8_t *piece, kr_symbol *symbols,
                size_t n, size_t n_ranks, kr_merge_room *room);

#endif
