/* The plug-in ABI as released plug-ins have it compiled in: offsets never move. */
#include <glib.h>
#include <krafla/backend.h>

enum { P = sizeof(void *) };

#define AT(type, member, offset)                                                                   \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")

AT(kr_backend, magic, 0);
AT(kr_backend, struct_size, 4);
AT(kr_backend, abi_major, 8);
AT(kr_backend, abi_minor, 10);
AT(kr_backend, numerics, 12);
AT(kr_backend, rank, 14);
AT(kr_backend, name, 16);
AT(kr_backend, features, 16 + P);
AT(kr_backend, provenance, 16 + 2 * P);
AT(kr_backend, kernels, 16 + 3 * P);
_Static_assert(sizeof(kr_backend) == 16 + 4 * P, "kr_backend has grown: a new minor version");

AT(kr_kernels, struct_size, 0);
AT(kr_kernels, vector_q4_0, 8);
AT(kr_kernels, matrix_q4_0, 8 + P);
AT(kr_kernels, vector_q4_1, 8 + 2 * P);
AT(kr_kernels, matrix_q4_1, 8 + 3 * P);
AT(kr_kernels, vector_q8_0, 8 + 4 * P);
AT(kr_kernels, matrix_q8_0, 8 + 5 * P);
AT(kr_kernels, vector_f16, 8 + 6 * P);
AT(kr_kernels, matrix_f16, 8 + 7 * P);
AT(kr_kernels, vector_bf16, 8 + 8 * P);
AT(kr_kernels, matrix_bf16, 8 + 9 * P);
AT(kr_kernels, vector_f32, 8 + 10 * P);
AT(kr_kernels, matrix_f32, 8 + 11 * P);
AT(kr_kernels, quantize, 8 + 12 * P);
AT(kr_kernels, rms_norm, 8 + 13 * P);
AT(kr_kernels, softmax, 8 + 14 * P);
AT(kr_kernels, silu_gate, 8 + 15 * P);
AT(kr_kernels, gelu_gate, 8 + 16 * P);
AT(kr_kernels, rope_pairs, 8 + 17 * P);
AT(kr_kernels, rope_halves, 8 + 18 * P);
AT(kr_kernels, add, 8 + 19 * P);
AT(kr_kernels, to_f16, 8 + 20 * P);
AT(kr_kernels, values_q8, 8 + 21 * P);

#if UINTPTR_MAX == UINT64_MAX
AT(kr_panel, data, 0);
AT(kr_panel, group_bytes, 8);
AT(kr_panel, k, 16);
_Static_assert(sizeof(kr_panel) == 24, "kr_panel is passed by pointer, never grows");
AT(kr_columns, q, 0);
AT(kr_columns, d, 8);
AT(kr_columns, s, 16);
AT(kr_columns, f, 24);
AT(kr_columns, ldf, 32);
AT(kr_columns, n, 40);
_Static_assert(sizeof(kr_columns) == 48, "kr_columns is passed by pointer, never grows");
#endif

/* Constants that plug-ins and files have compiled in. */
static void test_constants(void) {
  g_assert_cmphex(KR_BACKEND_MAGIC, ==, 0x4b524231);
  g_assert_cmpint(KR_BACKEND_ABI_MAJOR, ==, 1);
  g_assert_cmpint(KR_NUMERICS, ==, 1);
  g_assert_cmpint(KR_GROUP, ==, 16);
  g_assert_cmpint(KR_BLOCK, ==, 32);
  g_assert_cmpint(KR_PAIR, ==, 64);
  g_assert_cmpint(KR_PAGE, ==, 256);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/abi/constants", test_constants);
  return g_test_run();
}
