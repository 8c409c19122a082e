/* How the AVX2 products with quantized weights walk their columns. */
#ifndef KR_AVX2_COLUMNS_H
#define KR_AVX2_COLUMNS_H

#include "lanes.h"

/* A tile is 16 rows x KR_TILE columns. Its accumulators stay in y, in memory: the registers hold
 * the integer sums of one block. */
enum { KR_TILE = 4 };

/* Blocks of a group that are prepared at a time for many columns: with a byte a weight 8 KiB, which
 * leaves L1 its room for the columns. */
enum { KR_SLAB = 16 };

/* Bytes of activations to keep close while the groups pass by. With 1 MiB of L2, 256 KiB lost up to
 * 8 percent to reading the weights again, 1 MiB nothing. */
enum { KR_L2_SHARE = 512 << 10 };

/* The columns from one on, at some block, and their accumulators in one group of rows. */
typedef struct tile_columns {
  const int8_t *q;  /* [..][k] */
  const float *d;   /* [..][blocks] */
  const int32_t *s; /* [..][blocks] */
  float *y;         /* [..][ldy], 16 of each */
  int64_t k, blocks, ldy;
} tile_columns;

KR_INLINE tile_columns columns_at(const kr_panel *w, const kr_columns *x, int64_t column,
                                  int64_t group, float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK;
  return (tile_columns){.q = x->q + column * w->k,
                        .d = x->d + column * blocks,
                        .s = x->s + column * blocks,
                        .y = y + column * ldy + group * KR_GROUP,
                        .k = w->k,
                        .blocks = blocks,
                        .ldy = ldy};
}

KR_INLINE tile_columns skip_columns(tile_columns x, int64_t n) {
  x.q += n * x.k, x.d += n * x.blocks, x.s += n * x.blocks, x.y += n * x.ldy;
  return x;
}

KR_INLINE tile_columns skip_blocks(tile_columns x, int64_t n) {
  x.q += n * KR_BLOCK, x.d += n, x.s += n;
  return x;
}

/* Empty sums for n columns. */
KR_INLINE void clear_columns(tile_columns x, int64_t n) {
  for (int64_t c = 0; c < n; c++) memset(x.y + c * x.ldy, 0, KR_GROUP * sizeof *x.y);
}

/* How many of n columns to take at a time, so that their activations stay in L2 while all groups
 * pass by: nearly equal parts, a multiple of tile, not less than least, since the weights are read
 * again for each part. */
KR_INLINE int64_t column_step(int64_t n, int64_t column_bytes, int64_t tile, int64_t least) {
  int64_t fits = KR_L2_SHARE / (column_bytes > 0 ? column_bytes : 1);
  if (fits < least) fits = least;
  int64_t parts = (n + fits - 1) / fits, tiles = (n + tile - 1) / tile;
  return (tiles + parts - 1) / parts * tile;
}

/* Unpacks count blocks of a group, from one on, into a slab. */
typedef void prepare_slab(const uint8_t *group, int64_t first, int64_t count, void *ret_slab);
/* Adds those blocks to the sums of n columns. */
typedef void multiply_slab(const void *slab, int64_t count, tile_columns x, int64_t n);

/* The product with many columns: each slab of weights is unpacked once for all columns that stay
 * close. */
KR_INLINE void slab_product(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                            float *y, int64_t ldy, prepare_slab *prepare, multiply_slab *multiply,
                            void *slab) {
  int64_t blocks = w->k / KR_BLOCK, step = column_step(x->n, w->k, KR_TILE, 32);
  for (int64_t c = 0; c < x->n; c += step) {
    int64_t n = x->n - c < step ? x->n - c : step;
    for (int64_t g = first; g < last; g++) {
      tile_columns columns = columns_at(w, x, c, g, y, ldy);
      clear_columns(columns, n);
      for (int64_t b = 0; b < blocks; b += KR_SLAB, columns = skip_blocks(columns, KR_SLAB)) {
        int64_t count = blocks - b < KR_SLAB ? blocks - b : KR_SLAB;
        prepare(w->data + g * w->group_bytes, b, count, slab);
        multiply(slab, count, columns, n);
      }
    }
  }
}

#endif
