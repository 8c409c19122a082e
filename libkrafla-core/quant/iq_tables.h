/* The codebooks of the IQ formats: which short vectors of levels their indices stand for.
 *
 * They are part of the file format (chosen by ggml's authors; there is no formula). Each entry
 * packs the levels of one vector, first value lowest:
 *
 *   iq2_*   8 values of 2 bits   level k is 8 + 17 k + (k >> 1), that is 8, 25, 43
 *   iq3_xxs 4 values of 4 bits   level k is 4 + 8 k + 2 (k == 7), that is 4, 12, ... 52, 62
 *   iq3_s   4 values of 4 bits   level k is 2 k + 1
 *   iq1     8 values of 2 bits   level k is k - 1
 *
 * In this form they are the `grid_hex` strings of gguf 0.19.0 (gguf/quants.py, classes IQ2_XXS,
 * IQ2_XS, IQ2_S, IQ3_XXS, IQ3_S and IQ1_S), decoded from hexadecimal and read as little-endian
 * 16-bit words in order. */
#ifndef KR_QUANT_IQ_TABLES_H
#define KR_QUANT_IQ_TABLES_H

#include <stdint.h>

extern const uint16_t kr_iq2_xxs_codes[256];
extern const uint16_t kr_iq2_xs_codes[512];
extern const uint16_t kr_iq2_s_codes[1024];
extern const uint16_t kr_iq3_xxs_codes[256];
extern const uint16_t kr_iq3_s_codes[512];
extern const uint16_t kr_iq1_codes[2048];

#endif
