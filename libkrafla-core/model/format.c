/* Packed formats: which one keeps a tensor type, and what it takes. */
#include "base/size.h"
#include "model/model.h"

static const struct {
  const char *name;
  int32_t pair_bytes;  /* of a pair of blocks of a group; quantized formats */
  int32_t value_bytes; /* of a value; float formats */
} formats[] = {
    [KR_FORMAT_Q4_0] = {"Q4_0", 576, 0},  [KR_FORMAT_Q4_1] = {"Q4_1", 640, 0},
    [KR_FORMAT_Q8_0] = {"Q8_0", 1088, 0}, [KR_FORMAT_F16] = {"F16", 0, 2},
    [KR_FORMAT_BF16] = {"BF16", 0, 2},    [KR_FORMAT_F32] = {"F32", 0, 4},
};

kr_format kr_format_of(uint32_t type) {
  switch (type) {
  case KR_TYPE_Q4_0:
    return KR_FORMAT_Q4_0;
  case KR_TYPE_Q4_1:
    return KR_FORMAT_Q4_1;
  case KR_TYPE_F16:
    return KR_FORMAT_F16;
  case KR_TYPE_BF16:
    return KR_FORMAT_BF16;
  case KR_TYPE_F32:
    return KR_FORMAT_F32;
  default:
    return KR_FORMAT_Q8_0;
  }
}

const char *kr_format_name(kr_format format) {
  return formats[format].name;
}

int64_t kr_format_row(kr_format format, int64_t k) {
  return kr_format_is_quantized(format) ? kr_round_up(k, KR_PAIR) : k;
}

int64_t kr_format_group_bytes(kr_format format, int64_t k) {
  if (kr_format_is_quantized(format))
    return kr_round_up(k, KR_PAIR) / KR_PAIR * formats[format].pair_bytes;
  return kr_round_up(k * KR_GROUP * formats[format].value_bytes, 64);
}

kr_product_fn *kr_format_product(const kr_kernels *table, kr_format format, int64_t n) {
  switch (format) {
  case KR_FORMAT_Q4_0:
    return n == 1 ? table->vector_q4_0 : table->matrix_q4_0;
  case KR_FORMAT_Q4_1:
    return n == 1 ? table->vector_q4_1 : table->matrix_q4_1;
  case KR_FORMAT_Q8_0:
    return n == 1 ? table->vector_q8_0 : table->matrix_q8_0;
  case KR_FORMAT_F16:
    return n == 1 ? table->vector_f16 : table->matrix_f16;
  case KR_FORMAT_BF16:
    return n == 1 ? table->vector_bf16 : table->matrix_bf16;
  case KR_FORMAT_F32:
    break;
  }
  return n == 1 ? table->vector_f32 : table->matrix_f32;
}
