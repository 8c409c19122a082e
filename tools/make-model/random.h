/* Random numbers that are the same on every machine: integers, and floats that come of them by
 * exact or correctly rounded operations. */
#ifndef KR_MAKE_RANDOM_H
#define KR_MAKE_RANDOM_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea and Flood, 2014). */
typedef struct kr_random {
  uint64_t state;
} kr_random;

static inline uint64_t kr_random_next(kr_random *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* One stream for each name, so that a tensor's values do not depend on which others there are. */
static inline kr_random kr_random_named(uint64_t seed, const char *name) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
  for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
  kr_random random = {seed};
  random.state = kr_random_next(&random) ^ hash;
  return random;
}

/* Mean 0, standard deviation 1, bell-shaped, within 3.47: the sum of four uniform 16-bit numbers,
 * centred, over its deviation 65536 / sqrt(3). */
static inline float kr_random_normal(kr_random *random) {
  uint64_t r = kr_random_next(random);
  int32_t sum = (int32_t)(r & 0xffff) + (int32_t)(r >> 16 & 0xffff) + (int32_t)(r >> 32 & 0xffff) +
                (int32_t)(r >> 48);
  return (float)(sum - 131070) * 2.6429e-5f;
}

#endif
