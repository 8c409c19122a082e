/* The table of tensor types. */
#include "quant/types.h"
#include "quant/decoders.h"
#include <stddef.h>

/* Names as GGUF tools print them. Block sizes are ggml's (checked against gguf 0.19.0, but for
 * Q8_1, which ggml's C stores as two halves and 32 bytes). */
static const kr_type_info types[] = {
    [KR_TYPE_F32] = {"F32", 1, 4, kr_dequantize_f32},
    [KR_TYPE_F16] = {"F16", 1, 2, kr_dequantize_f16},
    [KR_TYPE_Q4_0] = {"Q4_0", 32, 18, kr_dequantize_q4_0},
    [KR_TYPE_Q4_1] = {"Q4_1", 32, 20, kr_dequantize_q4_1},
    [KR_TYPE_Q5_0] = {"Q5_0", 32, 22, kr_dequantize_q5_0},
    [KR_TYPE_Q5_1] = {"Q5_1", 32, 24, kr_dequantize_q5_1},
    [KR_TYPE_Q8_0] = {"Q8_0", 32, 34, kr_dequantize_q8_0},
    [KR_TYPE_Q8_1] = {"Q8_1", 32, 36, NULL},
    [KR_TYPE_Q2_K] = {"Q2_K", 256, 84, kr_dequantize_q2_k},
    [KR_TYPE_Q3_K] = {"Q3_K", 256, 110, kr_dequantize_q3_k},
    [KR_TYPE_Q4_K] = {"Q4_K", 256, 144, kr_dequantize_q4_k},
    [KR_TYPE_Q5_K] = {"Q5_K", 256, 176, kr_dequantize_q5_k},
    [KR_TYPE_Q6_K] = {"Q6_K", 256, 210, kr_dequantize_q6_k},
    [KR_TYPE_Q8_K] = {"Q8_K", 256, 292, NULL},
    [KR_TYPE_IQ2_XXS] = {"IQ2_XXS", 256, 66, kr_dequantize_iq2_xxs},
    [KR_TYPE_IQ2_XS] = {"IQ2_XS", 256, 74, kr_dequantize_iq2_xs},
    [KR_TYPE_IQ3_XXS] = {"IQ3_XXS", 256, 98, kr_dequantize_iq3_xxs},
    [KR_TYPE_IQ1_S] = {"IQ1_S", 256, 50, kr_dequantize_iq1_s},
    [KR_TYPE_IQ4_NL] = {"IQ4_NL", 32, 18, kr_dequantize_iq4_nl},
    [KR_TYPE_IQ3_S] = {"IQ3_S", 256, 110, kr_dequantize_iq3_s},
    [KR_TYPE_IQ2_S] = {"IQ2_S", 256, 82, kr_dequantize_iq2_s},
    [KR_TYPE_IQ4_XS] = {"IQ4_XS", 256, 136, kr_dequantize_iq4_xs},
    [KR_TYPE_I8] = {"I8", 1, 1, NULL},
    [KR_TYPE_I16] = {"I16", 1, 2, NULL},
    [KR_TYPE_I32] = {"I32", 1, 4, NULL},
    [KR_TYPE_I64] = {"I64", 1, 8, NULL},
    [KR_TYPE_F64] = {"F64", 1, 8, NULL},
    [KR_TYPE_IQ1_M] = {"IQ1_M", 256, 56, kr_dequantize_iq1_m},
    [KR_TYPE_BF16] = {"BF16", 1, 2, kr_dequantize_bf16},
    [KR_TYPE_TQ1_0] = {"TQ1_0", 256, 54, kr_dequantize_tq1_0},
    [KR_TYPE_TQ2_0] = {"TQ2_0", 256, 66, kr_dequantize_tq2_0},
    [KR_TYPE_MXFP4] = {"MXFP4", 32, 17, kr_dequantize_mxfp4},
    [KR_TYPE_NVFP4] = {"NVFP4", 64, 36, kr_dequantize_nvfp4},
};

const kr_type_info *kr_type_get(uint32_t type) {
  if (type >= sizeof types / sizeof types[0] || !types[type].name) return NULL;
  return &types[type];
}
