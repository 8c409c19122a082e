/* Reads everything that a source gives out. */
#ifndef KR_TESTS_WALK_H
#define KR_TESTS_WALK_H

#include "formats/source.h"

/* A hash over all keys, values, strings and tensor bytes, every typed look-up tried on the way. */
uint64_t kr_walk_values(const kr_source *source);
uint64_t kr_walk_tensor(const kr_tensor *tensor);

#endif
