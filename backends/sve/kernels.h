/* The SVE kernels, for entry.c. */
#ifndef KR_SVE_KERNELS_H
#define KR_SVE_KERNELS_H

#include <krafla/backend.h>

kr_product_fn kr_sve_vector_q4_0, kr_sve_matrix_q4_0;
kr_product_fn kr_sve_vector_q4_1, kr_sve_matrix_q4_1;
kr_product_fn kr_sve_vector_q8_0, kr_sve_matrix_q8_0;
kr_product_fn kr_sve_vector_f16, kr_sve_matrix_f16;
kr_product_fn kr_sve_vector_bf16, kr_sve_matrix_bf16;
kr_product_fn kr_sve_vector_f32, kr_sve_matrix_f32;
kr_quantize_fn kr_sve_quantize;
kr_rms_norm_fn kr_sve_rms_norm;
kr_softmax_fn kr_sve_softmax;

#endif
