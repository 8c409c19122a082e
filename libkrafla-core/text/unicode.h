/* Unicode properties, as the reference tokenizers see them (not as the newest standard has them).
 * The tables are generated: tools/gen-unicode-tables.py. */
#ifndef KR_TEXT_UNICODE_H
#define KR_TEXT_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

#define KR_UNICODE_END   UINT32_C(0x110000)
#define KR_UNICODE_BLOCK 128

enum { /* general categories, white space, and what Rust's char::is_numeric takes */
       KR_CLASS_L = 1 << 0,
       KR_CLASS_N = 1 << 1,
       KR_CLASS_M = 1 << 2,
       KR_CLASS_P = 1 << 3,
       KR_CLASS_S = 1 << 4,
       KR_CLASS_LU = 1 << 5,
       KR_CLASS_LL = 1 << 6,
       KR_CLASS_LT = 1 << 7,
       KR_CLASS_LM = 1 << 8,
       KR_CLASS_LO = 1 << 9,
       KR_CLASS_SPACE = 1 << 10,
       KR_CLASS_DIGIT = 1 << 11
};

typedef struct kr_norm_record {
  uint8_t ccc;    /* canonical combining class */
  uint8_t second; /* may compose with a character before it */
  uint8_t n;      /* code points that it decomposes to, at kr_norm_sequences + at; 0: none */
  uint16_t at;
} kr_norm_record;

typedef struct kr_norm_pair { /* sorted by first, then second */
  uint32_t first, second, composed;
} kr_norm_pair;

extern const uint8_t kr_class_block[KR_UNICODE_END / KR_UNICODE_BLOCK];
extern const uint8_t kr_class_kind[];
extern const uint16_t kr_class_word[];
extern const uint8_t kr_norm_block[KR_UNICODE_END / KR_UNICODE_BLOCK];
extern const uint16_t kr_norm_index[];
extern const kr_norm_record kr_norm_records[];
extern const uint32_t kr_norm_sequences[];
extern const kr_norm_pair kr_norm_pairs[];
extern const uint32_t kr_norm_n_pairs;

/* The classes of a code point below KR_UNICODE_END. */
static inline uint32_t kr_class(uint32_t code) {
  return kr_class_word[kr_class_kind[(uint32_t)kr_class_block[code / KR_UNICODE_BLOCK] *
                                         KR_UNICODE_BLOCK +
                                     code % KR_UNICODE_BLOCK]];
}

/* Whether a code point is part of a word, to the added tokens that are no part of one. */
bool kr_is_word(uint32_t code);

static inline const kr_norm_record *kr_norm(uint32_t code) {
  return &kr_norm_records[kr_norm_index[(uint32_t)kr_norm_block[code / KR_UNICODE_BLOCK] *
                                            KR_UNICODE_BLOCK +
                                        code % KR_UNICODE_BLOCK]];
}

#endif
