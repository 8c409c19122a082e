/* What tile.S and product_q8_0.c agree on. */
#ifndef KR_AVX2_ASM_TILE_H
#define KR_AVX2_ASM_TILE_H

#define KR_ASM_NEGATIVE 512 /* offsets in kr_asm_block */
#define KR_ASM_MISSING  1024
#define KR_ASM_D        1088
#define KR_ASM_BLOCK    1152
#define KR_ASM_PAIR     1088 /* bytes of a pair of blocks, packed */
#define KR_ASM_Q        8    /* offsets in kr_asm_tile */
#define KR_ASM_DX       16
#define KR_ASM_Y        24
#define KR_ASM_COUNT    32
#define KR_ASM_K        40
#define KR_ASM_LDY      48

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>

/* A block of 16 rows, prepared for many columns. */
typedef struct kr_asm_block {
  uint8_t magnitude[512]; /* |w|, in the order of the weights */
  uint8_t negative[512];  /* 255 where w < 0 */
  int32_t missing[16];    /* of each row the sum of |w| where w < 0 */
  float d[16];
} kr_asm_block;

/* Weights of a group against columns that lie k, k / 32 and ldy elements apart. */
typedef struct kr_asm_tile {
  const void *w; /* kr_asm_block [count], 64-byte aligned, or packed pairs [count] */
  const int8_t *q;
  const float *d;
  float *y; /* the accumulators: 16 rows of each column */
  int64_t count, k, ldy;
} kr_asm_tile;

_Static_assert(offsetof(kr_asm_block, negative) == KR_ASM_NEGATIVE &&
                   offsetof(kr_asm_block, missing) == KR_ASM_MISSING &&
                   offsetof(kr_asm_block, d) == KR_ASM_D && sizeof(kr_asm_block) == KR_ASM_BLOCK,
               "kr_asm_block");
_Static_assert(offsetof(kr_asm_tile, q) == KR_ASM_Q && offsetof(kr_asm_tile, d) == KR_ASM_DX &&
                   offsetof(kr_asm_tile, y) == KR_ASM_Y &&
                   offsetof(kr_asm_tile, count) == KR_ASM_COUNT &&
                   offsetof(kr_asm_tile, k) == KR_ASM_K && offsetof(kr_asm_tile, ldy) == KR_ASM_LDY,
               "kr_asm_tile");

#if defined(_WIN32) /* whose own calls differ */
#define KR_ASM_CALLS __attribute__((sysv_abi))
#else
#define KR_ASM_CALLS
#endif

typedef void KR_ASM_CALLS kr_asm_tile_fn(const kr_asm_tile *t);

/* Of 1, 2, 3 and 4 columns. */
kr_asm_tile_fn kr_avx2_asm_slab_1, kr_avx2_asm_slab_2, kr_avx2_asm_slab_3, kr_avx2_asm_slab_4;
kr_asm_tile_fn kr_avx2_asm_packed_1, kr_avx2_asm_packed_2, kr_avx2_asm_packed_3,
    kr_avx2_asm_packed_4;
#endif

#endif
