/* Llama: what GGUF files of the architecture "llama" hold (Llama 1 to 3, Mistral without its
 * window, SmolLM2, TinyLlama and many more). Their converter has put the rows of q and k into the
 * order of rotated pairs.
 *
 * Source  Touvron et al., arXiv:2302.13971; GGUF's key and tensor names. */
#include "arch/arch.h"

#define INT(name, field, required, min, max)                                                       \
  { name, offsetof(kr_hparams, field), KR_KEY_INT, required, min, max }
#define FLOAT(name, field, required, min, max)                                                     \
  { name, offsetof(kr_hparams, field), KR_KEY_FLOAT, required, min, max }

static const kr_arch_key keys[] = {
    INT("block_count", n_layers, true, 1, 512),
    INT("context_length", n_ctx, true, 1, 1 << 30),
    INT("embedding_length", dim, true, 1, 1 << 20),
    INT("feed_forward_length", ff, true, 1, 1 << 24),
    INT("attention.head_count", n_heads, true, 1, 1 << 14),
    INT("attention.head_count_kv", n_kv_heads, false, 1, 1 << 14),
    INT("attention.key_length", head_dim, false, 1, 1 << 14),
    INT("attention.value_length", value_dim, false, 1, 1 << 14),
    INT("rope.dimension_count", n_rot, false, 2, 1 << 14),
    INT("expert_count", n_experts, false, 0, 1 << 14),
    FLOAT("attention.layer_norm_rms_epsilon", eps, true, 0, 1),
    FLOAT("rope.freq_base", rope_base, false, 1, 1e15),
    FLOAT("rope.scale_linear", rope_factor, false, 0, 1e6), /* of older files */
    FLOAT("rope.scaling.factor", rope_factor, false, 0, 1e6),
};

static const kr_arch_tensor globals[] = {
    {"token_embd.weight", KR_TOKEN_EMBD, KR_DIM, KR_VOCAB, false},
    {"output_norm.weight", KR_OUTPUT_NORM, KR_DIM, KR_ONE, false},
    {"output.weight", KR_OUTPUT, KR_DIM, KR_VOCAB, true},
    {"rope_freqs.weight", KR_ROPE_FACTORS, KR_HALF_ROT, KR_ONE, true},
};

static const kr_arch_tensor layer[] = {
    {"attn_norm.weight", KR_ATTN_NORM, KR_DIM, KR_ONE, false},
    {"attn_q.weight", KR_ATTN_Q, KR_DIM, KR_Q_WIDTH, false},
    {"attn_k.weight", KR_ATTN_K, KR_DIM, KR_K_WIDTH, false},
    {"attn_v.weight", KR_ATTN_V, KR_DIM, KR_V_WIDTH, false},
    {"attn_output.weight", KR_ATTN_OUT, KR_OUT_WIDTH, KR_DIM, false},
    {"attn_q.bias", KR_Q_BIAS, KR_Q_WIDTH, KR_ONE, true},
    {"attn_k.bias", KR_K_BIAS, KR_K_WIDTH, KR_ONE, true},
    {"attn_v.bias", KR_V_BIAS, KR_V_WIDTH, KR_ONE, true},
    {"attn_output.bias", KR_OUT_BIAS, KR_DIM, KR_ONE, true},
    {"ffn_norm.weight", KR_FFN_NORM, KR_DIM, KR_ONE, false},
    {"ffn_gate.weight", KR_FFN_GATE, KR_DIM, KR_FF, false},
    {"ffn_up.weight", KR_FFN_UP, KR_DIM, KR_FF, false},
    {"ffn_down.weight", KR_FFN_DOWN, KR_FF, KR_DIM, false},
    {"ffn_gate.bias", KR_GATE_BIAS, KR_FF, KR_ONE, true},
    {"ffn_up.bias", KR_UP_BIAS, KR_FF, KR_ONE, true},
    {"ffn_down.bias", KR_DOWN_BIAS, KR_DIM, KR_ONE, true},
};

#define N(array) (sizeof(array) / sizeof *(array))

const kr_arch kr_arch_llama = {
    .name = "llama",
    .keys = keys,
    .n_keys = N(keys),
    .globals = globals,
    .n_globals = N(globals),
    .layer = layer,
    .n_layer = N(layer),
    .rope = KR_ROPE_PAIRS,
    .gate = KR_GATE_SILU,
};
