/* The AVX-VNNI kernels, for entry.c. */
#ifndef KR_AVXVNNI_KERNELS_H
#define KR_AVXVNNI_KERNELS_H

#include <krafla/backend.h>

kr_product_fn kr_avxvnni_vector_q4_0, kr_avxvnni_matrix_q4_0;
kr_product_fn kr_avxvnni_vector_q4_1, kr_avxvnni_matrix_q4_1;
kr_product_fn kr_avxvnni_vector_q8_0, kr_avxvnni_matrix_q8_0;

#endif
