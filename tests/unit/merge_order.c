/* The merging of symbols against the plain rule: look for the lowest priority, leftmost, again and
 * again. Short, long and very long pieces take different ways. */
#include "text/merge.h"
#include <glib.h>

enum { SUM = 14, RANKS = (SUM + 1) * 256 };

/* Two symbols become their sum, up to SUM; the seed scatters the priorities of pairs,
 * which are below RANKS unless it is a multiple of three. */
static kr_pair pair(const void *rules, const uint8_t *piece, const kr_symbol *a,
                    const kr_symbol *b) {
  (void)piece;
  uint32_t h = *(const uint32_t *)rules ^ (uint32_t)a->id * 0x9e3779b1u ^ (uint32_t)b->id << 20;
  h *= 0x85ebca6bu, h ^= h >> 15;
  if (a->id + b->id > SUM || h % 5 == 0) return (kr_pair){KR_PAIR_NONE, -1};
  uint32_t seed = *(const uint32_t *)rules, sum = (uint32_t)(a->id + b->id);
  uint32_t place = (uint32_t)(a->id * 16 + b->id);
  if (seed % 3 == 0) return (kr_pair){h % 1000 * 256 + place, (int32_t)sum};
  /* as in lists of merges, in any order and in that in which they are learned */
  return (kr_pair){(seed % 3 == 1 ? h % SUM : sum) * 256 + place, (int32_t)sum};
}

static size_t plain(const uint32_t *seed, kr_symbol *symbols, size_t n) {
  for (;;) {
    size_t best = 0;
    kr_pair least = {KR_PAIR_NONE, -1};
    for (size_t i = 0; i + 1 < n; i++) {
      kr_pair p = pair(seed, NULL, &symbols[i], &symbols[i + 1]);
      if (p.priority < least.priority) least = p, best = i;
    }
    if (least.priority == KR_PAIR_NONE) return n;
    symbols[best].id = least.id;
    symbols[best].n += symbols[best + 1].n;
    n--;
    for (size_t i = best + 1; i < n; i++) symbols[i] = symbols[i + 1];
  }
}

static void test_random(void) {
  kr_merge_room room = {0};
  for (int round = 0; round < 3000; round++) {
    uint32_t seed = (uint32_t)g_test_rand_int();
    size_t n = (size_t)g_test_rand_int_range(0, round % 10 ? 60 : 1000);
    kr_symbol *a = g_new(kr_symbol, n + 1), *b = g_new(kr_symbol, n + 1);
    for (size_t i = 0; i < n; i++)
      a[i] = b[i] = (kr_symbol){g_test_rand_int_range(1, 5), (uint32_t)i, 1};
    size_t n_ranks = seed % 3 ? RANKS : 0;
    size_t n_a = kr_merge(pair, &seed, NULL, a, n, n_ranks, &room), n_b = plain(&seed, b, n);
    g_assert_cmpmem(a, n_a * sizeof *a, b, n_b * sizeof *b);
    g_free(a);
    g_free(b);
  }
  kr_array_free(room.block);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/merge/random", test_random);
  return g_test_run();
}
