/* An index over names: open addressing over a keyed hash. */
#include "formats/names.h"
#include "base/system.h"
#include "formats/cursor.h"
#include <string.h>
#include <time.h>

static uint64_t rotate(uint64_t x, int n) {
  return x << n | x >> (64 - n);
}

static void mix(uint64_t v[4]) {
  v[0] += v[1], v[2] += v[3];
  v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
  v[0] = rotate(v[0], 32);
  v[2] += v[1], v[0] += v[3];
  v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
  v[2] = rotate(v[2], 32);
}

/* SipHash-1-3: one round a word, three at the end.
 * Source    Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012). */
static uint64_t hash(const uint64_t seed[2], const char *name, size_t n) {
  uint64_t v[4] = {seed[0] ^ UINT64_C(0x736f6d6570736575), seed[1] ^ UINT64_C(0x646f72616e646f6d),
                   seed[0] ^ UINT64_C(0x6c7967656e657261), seed[1] ^ UINT64_C(0x7465646279746573)};
  const uint8_t *bytes = (const uint8_t *)name;
  size_t whole = n & ~(size_t)7;
  uint64_t word;
  for (size_t i = 0; i < whole; i += 8) {
    word = kr_load_u64(bytes + i);
    v[3] ^= word;
    mix(v);
    v[0] ^= word;
  }
  word = (uint64_t)n << 56;
  for (size_t i = whole; i < n; i++) word |= (uint64_t)bytes[i] << (8 * (i - whole));
  v[3] ^= word;
  mix(v);
  v[0] ^= word;
  v[2] ^= 0xff;
  for (int i = 0; i < 3; i++) mix(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Only speed depends on the seed, never a result, so a weak one is no fault where the system gives
 * none: then the clock and the place of the index in memory must do. */
static void choose_seed(kr_names *names) {
  if (kr_random_seed(names->seed)) return;
  names->seed[0] = (uint64_t)clock() << 32 ^ (uint64_t)time(NULL);
  names->seed[1] = (uint64_t)(uintptr_t)names->slots * UINT64_C(0x9e3779b97f4a7c15);
}

static const kr_text *name_of(const void *entries, size_t stride, size_t i) {
  return (const kr_text *)((const char *)entries + i * stride);
}

/* The slot where a name is, or the empty one where it belongs. */
static uint64_t *place(const kr_names *names, const void *entries, size_t stride, const char *name,
                       size_t n, uint64_t *ret_tag) {
  uint64_t h = hash(names->seed, name, n);
  uint64_t tag = h & UINT64_C(0xffffffff00000000);
  *ret_tag = tag;
  for (size_t at = (size_t)h & names->mask;; at = (at + 1) & names->mask) {
    uint64_t *slot = &names->slots[at];
    if (!*slot) return slot;
    if ((*slot & UINT64_C(0xffffffff00000000)) != tag) continue;
    const kr_text *entry = name_of(entries, stride, (size_t)(uint32_t)*slot - 1);
    if (entry->n == n && (!n || !memcmp(entry->data, name, n))) return slot;
  }
}

int kr_names_build(const void *entries, size_t stride, size_t n, kr_names *ret_names,
                   size_t ret_twins[2]) {
  size_t size = 16;
  while (size / 2 < n) size *= 2;
  kr_names names = {.slots = kr_alloc(size, sizeof *names.slots), .mask = size - 1};
  if (!names.slots) return KR_E_MEMORY;
  choose_seed(&names);
  for (size_t i = 0; i < n; i++) {
    const kr_text *name = name_of(entries, stride, i);
    uint64_t tag, *slot = place(&names, entries, stride, name->data, name->n, &tag);
    if (*slot) {
      ret_twins[0] = (size_t)(uint32_t)*slot - 1, ret_twins[1] = i;
      kr_names_clear(&names);
      return KR_E_FORMAT;
    }
    *slot = tag | (uint64_t)(i + 1);
  }
  *ret_names = names;
  return KR_OK;
}

size_t kr_names_find(const kr_names *names, const void *entries, size_t stride, const char *name,
                     size_t n) {
  if (!names->slots) return SIZE_MAX;
  uint64_t tag, slot = *place(names, entries, stride, name, n, &tag);
  return slot ? (size_t)(uint32_t)slot - 1 : SIZE_MAX;
}

void kr_names_clear(kr_names *names) {
  kr_free(names->slots);
  *names = (kr_names){0};
}
