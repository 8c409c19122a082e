/* Opening a model: source, hyper-parameters, tensors, tokenizer, packed weights. */
#include "model/model.h"
#include "base/float_state.h"
#include <stdio.h>

void kr_model_embed(const kr_model *m, int32_t token, float *ret_row) {
  const kr_tensor *t = m->global[KR_TOKEN_EMBD].tensor;
  size_t row_bytes = t->bytes / (size_t)t->dims[1];
  kr_type_get(t->type)->dequantize(t->data + (size_t)token * row_bytes, t->dims[0], ret_row);
}

static int read_name(kr_model *m, kr_error *err) {
  kr_text name = {"", 0};
  int code = kr_source_string(m->source, "general.name", &name, err);
  if (code) return code;
  m->name = kr_strndup(name.data, name.n);
  return m->name ? KR_OK : kr_fail_memory(err, "the model's name");
}

/* "Q4_1 Q8_0": the tensor types of the matrices, most bytes first. */
static void list_types(kr_model *m) {
  enum { MAX_TYPES = 64 };
  size_t bytes[MAX_TYPES] = {0}, at = 0;
  int64_t slots = m->hp.n_layers * KR_N_LAYER;
  for (int64_t i = -KR_N_GLOBAL; i < slots; i++) {
    kr_weight *w = i < 0 ? &m->global[i + KR_N_GLOBAL] : &m->layers[0][0] + i;
    if (!w->tensor) continue;
    m->info.parameters += w->tensor->dims[0] * w->tensor->dims[1];
    if (w->matrix && w->tensor->type < MAX_TYPES) bytes[w->tensor->type] += w->tensor->bytes;
  }
  for (;;) {
    int best = -1;
    for (int i = 0; i < MAX_TYPES; i++)
      if (bytes[i] && (best < 0 || bytes[i] > bytes[best])) best = i;
    if (best < 0 || at >= sizeof m->types) return;
    bytes[best] = 0;
    at += (size_t)snprintf(m->types + at, sizeof m->types - at, "%s%s", at ? " " : "",
                           kr_type_get((uint32_t)best)->name);
  }
}

static void describe(kr_model *m) {
  const kr_hparams *hp = &m->hp;
  m->info = (kr_model_info){
      .architecture = m->arch->name,
      .name = m->name,
      .types = m->types,
      .weight_bytes = (int64_t)m->packed_bytes,
      .n_vocab = (int32_t)hp->n_vocab,
      .n_ctx = (int32_t)hp->n_ctx,
      .n_layers = (int32_t)hp->n_layers,
      .dim = (int32_t)hp->dim,
      .n_heads = (int32_t)hp->n_heads,
      .n_kv_heads = (int32_t)hp->n_kv_heads,
      .head_dim = (int32_t)hp->head_dim,
  };
  list_types(m);
}

static int pack(kr_model *m, const kr_model_options *options, kr_error *err) {
  kr_pool *pool;
  int32_t threads = options && options->threads ? options->threads : kr_default_threads();
  int code = kr_pool_new(threads, &pool, err);
  if (code) return code;
  code = kr_model_pack(m, pool, options ? options->progress : NULL,
                       options ? options->progress_data : NULL, err);
  kr_pool_free(pool);
  return code;
}

static int load(kr_model *m, const char *path, const kr_model_options *options, kr_error *err) {
  int code = kr_source_open(path, &m->source, err);
  if (!code) code = kr_hparams_read(m->source, &m->arch, &m->hp, err);
  if (!code) code = kr_model_bind(m, err);
  if (!code) code = kr_vocab_new(m->source, m->hp.n_vocab, &m->vocab, err);
  if (!code) code = read_name(m, err);
  if (!code) code = pack(m, options, err);
  if (code) return kr_fail_path(err, code, path);
  describe(m);
  return KR_OK;
}

int kr_model_open(const char *path, const kr_model_options *options, kr_model **ret_model,
                  kr_error *err) {
  kr_model *m = kr_alloc(1, sizeof *m);
  if (!m) return kr_fail_memory(err, "model");
  uint64_t state = kr_float_state_set(); /* weights may be quantized on the way */
  int code = load(m, path, options, err);
  kr_float_state_restore(state);
  if (code) {
    kr_model_free(m);
    return code;
  }
  *ret_model = m;
  return KR_OK;
}

void kr_model_free(kr_model *m) {
  if (!m) return;
  kr_pages_free(m->packed, m->packed_bytes);
  kr_free(m->matrices);
  kr_free(m->vectors);
  kr_free(m->layers);
  kr_free(m->name);
  kr_vocab_free(m->vocab);
  kr_source_close(m->source);
  kr_free(m);
}

const kr_model_info *kr_model_get_info(const kr_model *m) {
  return &m->info;
}
const kr_vocab *kr_model_vocab(const kr_model *m) {
  return m->vocab;
}
const char *kr_model_chat_template(const kr_model *m) {
  return kr_vocab_chat_template(m->vocab);
}
