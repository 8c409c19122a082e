/* The scalar kernels, for entry.c. */
#ifndef KR_SCALAR_KERNELS_H
#define KR_SCALAR_KERNELS_H

#include "../common/scalar.h"

kr_product_fn kr_scalar_product_q4_0, kr_scalar_product_q4_1, kr_scalar_product_q8_0;
kr_product_fn kr_scalar_product_f16, kr_scalar_product_bf16, kr_scalar_product_f32;
kr_quantize_fn kr_scalar_quantize;
kr_rms_norm_fn kr_scalar_rms_norm;
kr_softmax_fn kr_scalar_softmax;
kr_gate_fn kr_scalar_silu_gate, kr_scalar_gelu_gate;
kr_rope_fn kr_scalar_rope_pairs, kr_scalar_rope_halves;
kr_add_fn kr_scalar_add;
kr_to_f16_fn kr_scalar_to_f16;
kr_values_q8_fn kr_scalar_values_q8;

#endif
