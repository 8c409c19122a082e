/* Rows of random weights in any tensor type. */
#ifndef KR_RANDOM_BLOCKS_H
#define KR_RANDOM_BLOCKS_H

#include "quant/types.h"
#include "random.h"

typedef struct kr_row_maker {
  uint32_t type;
  const kr_type_info *info;
  double unit; /* deviation of random blocks at scale 1; 0 where values are converted instead */
  float levels[256]; /* of MXFP4 and NVFP4: what a scale byte stands for */
} kr_row_maker;

/* type is one that holds weights. */
kr_row_maker kr_row_maker_for(uint32_t type);

/* n values, a multiple of the block, of the given mean and deviation. F32, F16, BF16, Q8_0, Q4_0
 * and Q4_1 rows are drawn as floats (into values, n of them) and converted. Rows of the other types
 * are random blocks with scales that give about the deviation, and about the mean 0. */
void kr_make_row(const kr_row_maker *maker, kr_random *random, int64_t n, float mean,
                 float deviation, float *values, uint8_t *row);

#endif
