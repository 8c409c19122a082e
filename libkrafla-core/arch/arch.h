/* Architectures as data: which keys and tensors a family's files have, and how its layers compute.
 *
 * One const kr_arch a family, one family a file. The tensor list also validates a file: every shape
 * follows from the hyper-parameters. The one forward pass (forward/) reads what is said here; a
 * family has no code of its own. */
#ifndef KR_ARCH_H
#define KR_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes that a file's metadata gives, or that follow from it. */
typedef struct kr_hparams {
  int64_t n_layers, dim, ff, n_heads, n_kv_heads;
  int64_t head_dim;  /* of queries and keys */
  int64_t value_dim; /* of values, a head */
  int64_t n_rot;     /* values of a head that are rotated, from its start; even */
  int64_t n_ctx;     /* positions that the model was made for */
  int64_t n_vocab;   /* rows of the token embedding */
  int64_t n_experts;
  double eps;         /* of the norms */
  double rope_base;   /* theta */
  double rope_factor; /* positions are divided by it (linear scaling) */
} kr_hparams;

typedef enum kr_key_kind { KR_KEY_INT, KR_KEY_FLOAT } kr_key_kind;

/* One metadata key, "<architecture>." left out. An integer may be stored as an array with one
 * element a layer, all equal. */
typedef struct kr_arch_key {
  const char *name;
  size_t offset; /* of an int64_t or double in kr_hparams */
  kr_key_kind kind;
  bool required; /* else the value that is there already is the default */
  double min, max;
} kr_arch_key;

/* Where a tensor is used. */
typedef enum kr_global_slot {
  KR_TOKEN_EMBD,
  KR_OUTPUT_NORM,
  KR_OUTPUT, /* absent: tied, the token embedding is used */
  KR_ROPE_FACTORS,
  KR_N_GLOBAL
} kr_global_slot;

typedef enum kr_layer_slot {
  KR_ATTN_NORM,
  KR_ATTN_Q,
  KR_ATTN_K,
  KR_ATTN_V,
  KR_ATTN_OUT,
  KR_Q_BIAS,
  KR_K_BIAS,
  KR_V_BIAS,
  KR_OUT_BIAS,
  KR_FFN_NORM,
  KR_FFN_GATE,
  KR_FFN_UP,
  KR_FFN_DOWN,
  KR_GATE_BIAS,
  KR_UP_BIAS,
  KR_DOWN_BIAS,
  KR_N_LAYER
} kr_layer_slot;

/* A tensor's extent by name: the hyper-parameter, or product of two, that it must equal. */
typedef enum kr_extent {
  KR_ONE, /* there is no such dimension */
  KR_DIM,
  KR_FF,
  KR_VOCAB,
  KR_Q_WIDTH,   /* n_heads * head_dim */
  KR_K_WIDTH,   /* n_kv_heads * head_dim */
  KR_V_WIDTH,   /* n_kv_heads * value_dim */
  KR_OUT_WIDTH, /* n_heads * value_dim */
  KR_HALF_ROT   /* n_rot / 2 */
} kr_extent;

typedef struct kr_arch_tensor {
  const char *name; /* of a layer: behind "blk.N." */
  int32_t slot;
  kr_extent k, rows; /* as in GGUF: the innermost dimension first; vectors have rows KR_ONE */
  bool optional;
} kr_arch_tensor;

typedef enum kr_rope_order { KR_ROPE_PAIRS, KR_ROPE_HALVES } kr_rope_order;
typedef enum kr_gate_kind { KR_GATE_SILU, KR_GATE_GELU } kr_gate_kind;

typedef struct kr_arch {
  const char *name; /* general.architecture */
  const kr_arch_key *keys;
  size_t n_keys;
  const kr_arch_tensor *globals, *layer;
  size_t n_globals, n_layer;
  kr_rope_order rope;
  kr_gate_kind gate;
} kr_arch;

/* NULL when no family has this name (of n bytes). */
const kr_arch *kr_arch_find(const char *name, size_t n);
/* The names of all, separated by ", ". */
const char *kr_arch_names(void);

int64_t kr_extent_value(kr_extent extent, const kr_hparams *hp);
/* The keys it comes from, for messages: "attention.head_count x attention.key_length". */
const char *kr_extent_name(kr_extent extent);

extern const kr_arch kr_arch_llama;

#endif
