/* An index over names: finds an entry by its name in constant time and refuses duplicates. */
#ifndef KR_FORMATS_NAMES_H
#define KR_FORMATS_NAMES_H

#include "formats/source.h"

/* Entries are structures that begin with a kr_text, stride bytes apart; the index refers to them by
 * number and is given the same array at every call. The hash is keyed with a random seed, so that
 * a file cannot be made whose names all collide. */
typedef struct kr_names {
  uint64_t *slots; /* high half: of the hash; low half: number of the entry + 1; 0: empty */
  size_t mask;
  uint64_t seed[2];
} kr_names;

/* KR_OK, KR_E_MEMORY, or KR_E_FORMAT when two entries have one name: ret_twins are their numbers,
 * the lower first. Fewer than 2^31 entries. */
int kr_names_build(const void *entries, size_t stride, size_t n, kr_names *ret_names,
                   size_t ret_twins[2]) KR_CHECKED;

/* The number of the entry, or SIZE_MAX. */
size_t kr_names_find(const kr_names *names, const void *entries, size_t stride, const char *name,
                     size_t n);
void kr_names_clear(kr_names *names);

#endif
