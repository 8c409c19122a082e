/* The list of architectures, and the extents that tensors are made of. */
#include "arch/arch.h"
#include <string.h>

static const kr_arch *const archs[] = {&kr_arch_llama};

const kr_arch *kr_arch_find(const char *name, size_t n) {
  for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
    if (strlen(archs[i]->name) == n && !memcmp(archs[i]->name, name, n)) return archs[i];
  return NULL;
}

const char *kr_arch_names(void) {
  return "llama";
}

int64_t kr_extent_value(kr_extent extent, const kr_hparams *hp) {
  switch (extent) {
  case KR_ONE:
    return 1;
  case KR_DIM:
    return hp->dim;
  case KR_FF:
    return hp->ff;
  case KR_VOCAB:
    return hp->n_vocab;
  case KR_Q_WIDTH:
    return hp->n_heads * hp->head_dim;
  case KR_K_WIDTH:
    return hp->n_kv_heads * hp->head_dim;
  case KR_V_WIDTH:
    return hp->n_kv_heads * hp->value_dim;
  case KR_OUT_WIDTH:
    return hp->n_heads * hp->value_dim;
  case KR_HALF_ROT:
    return hp->n_rot / 2;
  }
  return 0;
}

const char *kr_extent_name(kr_extent extent) {
  switch (extent) {
  case KR_ONE:
    return "none";
  case KR_DIM:
    return "embedding_length";
  case KR_FF:
    return "feed_forward_length";
  case KR_VOCAB:
    return "vocabulary";
  case KR_Q_WIDTH:
    return "attention.head_count x attention.key_length";
  case KR_K_WIDTH:
    return "attention.head_count_kv x attention.key_length";
  case KR_V_WIDTH:
    return "attention.head_count_kv x attention.value_length";
  case KR_OUT_WIDTH:
    return "attention.head_count x attention.value_length";
  case KR_HALF_ROT:
    return "rope.dimension_count / 2";
  }
  return "";
}
