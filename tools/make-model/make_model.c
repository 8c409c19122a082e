/* krafla-make-model: writes small random Llama models for tests and measurements. The same options
 * give the same bytes on every machine.
 *
 * Matrices have deviation 1 / sqrt(inputs); those that add to the residual stream 1 / sqrt(2
 * layers) of that, so that the stream stays near 1 at any depth; the output matrix twice that, so
 * that logits have a deviation of about 2. */
#include "byte_vocab.h"
#include "front_error.h"
#include "front_parse.h"
#include "gguf_write.h"
#include "quant/types.h"
#include "random_blocks.h"
#include <math.h>
#include <string.h>

typedef struct options {
  char *type_name;
  guint32 type;
  int dim, layers, heads, kv_heads, head_dim, ff, vocab, ctx;
  gboolean tied, bias, rope_factors;
  gint64 seed;
} options;

typedef struct planned {
  char name[64];
  guint32 type;
  gint64 k, rows; /* rows 0: a vector of k values */
  float mean, deviation;
} planned;

static void plan_matrix(GArray *plan, const options *o, const char *name, int k, int rows,
                        double gain) {
  planned tensor = {.type = o->type, .k = k, .rows = rows};
  g_strlcpy(tensor.name, name, sizeof tensor.name);
  tensor.deviation = (float)(gain / sqrt(k));
  g_array_append_val(plan, tensor);
}

static void plan_vector(GArray *plan, const char *name, int k, float mean) {
  planned tensor = {.type = KR_TYPE_F32, .k = k, .mean = mean, .deviation = 0.125f};
  g_strlcpy(tensor.name, name, sizeof tensor.name);
  g_array_append_val(plan, tensor);
}

static void plan_layer(GArray *plan, const options *o, int layer) {
  int q = o->heads * o->head_dim, kv = o->kv_heads * o->head_dim;
  double residual = 1 / sqrt(2.0 * o->layers);
  const struct {
    const char *name;
    int k, rows;
    double gain;
  } matrices[] = {
      {"attn_q", o->dim, q, 1},
      {"attn_k", o->dim, kv, 1},
      {"attn_v", o->dim, kv, 1},
      {"attn_output", q, o->dim, residual},
      {"ffn_gate", o->dim, o->ff, 1},
      {"ffn_up", o->dim, o->ff, 1},
      {"ffn_down", o->ff, o->dim, residual},
  };
  char name[64];
  for (int i = 0; i < 2; i++) {
    g_snprintf(name, sizeof name, "blk.%d.%s.weight", layer, i ? "ffn_norm" : "attn_norm");
    plan_vector(plan, name, o->dim, 1);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(matrices); i++) {
    g_snprintf(name, sizeof name, "blk.%d.%s.weight", layer, matrices[i].name);
    plan_matrix(plan, o, name, matrices[i].k, matrices[i].rows, matrices[i].gain);
    if (!o->bias) continue;
    g_snprintf(name, sizeof name, "blk.%d.%s.bias", layer, matrices[i].name);
    plan_vector(plan, name, matrices[i].rows, 0);
  }
}

static GArray *plan_tensors(const options *o) {
  GArray *plan = g_array_new(FALSE, TRUE, sizeof(planned));
  /* tied embeddings are the output matrix too, and keep its deviation */
  plan_matrix(plan, o, "token_embd.weight", o->dim, o->vocab, o->tied ? 2 : sqrt(o->dim));
  if (o->rope_factors) plan_vector(plan, "rope_freqs.weight", o->head_dim / 2, 0);
  for (int i = 0; i < o->layers; i++) plan_layer(plan, o, i);
  plan_vector(plan, "output_norm.weight", o->dim, 1);
  if (!o->tied) plan_matrix(plan, o, "output.weight", o->dim, o->vocab, 2);
  return plan;
}

static void put_keys(kr_gguf_writer *writer, const options *o) {
  kr_gguf_put_string(writer, "general.architecture", "llama");
  kr_gguf_put_string(writer, "general.name", "random");
  kr_gguf_put_u32(writer, "general.quantization_version", 2);
  kr_gguf_put_u32(writer, "llama.block_count", (guint32)o->layers);
  kr_gguf_put_u32(writer, "llama.context_length", (guint32)o->ctx);
  kr_gguf_put_u32(writer, "llama.embedding_length", (guint32)o->dim);
  kr_gguf_put_u32(writer, "llama.feed_forward_length", (guint32)o->ff);
  kr_gguf_put_u32(writer, "llama.attention.head_count", (guint32)o->heads);
  kr_gguf_put_u32(writer, "llama.attention.head_count_kv", (guint32)o->kv_heads);
  kr_gguf_put_u32(writer, "llama.attention.key_length", (guint32)o->head_dim);
  kr_gguf_put_u32(writer, "llama.attention.value_length", (guint32)o->head_dim);
  kr_gguf_put_u32(writer, "llama.rope.dimension_count", (guint32)o->head_dim);
  kr_gguf_put_f32(writer, "llama.rope.freq_base", 10000);
  kr_gguf_put_f32(writer, "llama.attention.layer_norm_rms_epsilon", 1e-5f);
  kr_gguf_put_u32(writer, "llama.vocab_size", (guint32)o->vocab);
  kr_put_byte_vocab(writer, (gsize)o->vocab);
}

/* Divisors of the rotation frequencies: 1 for the fastest pair, rising to 8, as Llama 3's do. */
static void rope_factors(gint64 n, guint8 *row) {
  kr_row_maker maker = kr_row_maker_for(KR_TYPE_F32);
  kr_random unused = {0};
  for (gint64 i = 0; i < n; i++) {
    float value = 1 + 7 * (float)i / (float)(n > 1 ? n - 1 : 1), scratch;
    kr_make_row(&maker, &unused, 1, value, 0, &scratch, row + 4 * i);
  }
}

static gboolean write_tensor(kr_gguf_writer *writer, const planned *tensor, guint64 seed,
                             GError **error) {
  kr_row_maker maker = kr_row_maker_for(tensor->type);
  kr_random random = kr_random_named(seed, tensor->name);
  gsize bytes = (gsize)(tensor->k / maker.info->block * maker.info->bytes);
  g_autofree float *values = g_new(float, tensor->k);
  g_autofree guint8 *row = g_malloc(bytes);
  gboolean ok = TRUE;
  for (gint64 i = 0; ok && i < MAX(tensor->rows, 1); i++) {
    if (strcmp(tensor->name, "rope_freqs.weight") == 0)
      rope_factors(tensor->k, row);
    else
      kr_make_row(&maker, &random, tensor->k, tensor->mean, tensor->deviation, values, row);
    ok = kr_gguf_write_data(writer, row, bytes, error);
  }
  return ok;
}

static gboolean write_model(const options *o, const char *path, GError **error) {
  kr_gguf_writer *writer = kr_gguf_writer_new();
  put_keys(writer, o);
  g_autoptr(GArray) plan = plan_tensors(o);
  for (guint i = 0; i < plan->len; i++) {
    const planned *tensor = &g_array_index(plan, planned, i);
    gint64 dims[2] = {tensor->k, tensor->rows};
    kr_gguf_put_tensor(writer, tensor->name, tensor->type, dims, tensor->rows ? 2 : 1);
  }
  gboolean ok = kr_gguf_write_header(writer, path, error);
  for (guint i = 0; ok && i < plan->len; i++)
    ok = write_tensor(writer, &g_array_index(plan, planned, i), (guint64)o->seed, error);
  ok = ok && kr_gguf_write_commit(writer, error);
  kr_gguf_writer_free(writer);
  return ok;
}

static gboolean find_type(options *o, GError **error) {
  GString *names = g_string_new(NULL);
  for (guint32 type = 0; type <= KR_TYPE_NVFP4; type++) {
    const kr_type_info *info = kr_type_get(type);
    if (!info || !info->dequantize) continue;
    g_string_append_printf(names, " %s", info->name);
    if (g_ascii_strcasecmp(info->name, o->type_name) != 0) continue;
    o->type = type;
    g_string_free(names, TRUE);
    return TRUE;
  }
  g_autofree char *all = g_string_free(names, FALSE);
  return kr_front_fail(error, KR_EXIT_USAGE, "--type %s: unknown, it is one of%s", o->type_name,
                       all);
}

static gboolean in_range(const char *name, int value, int min, int max, GError **error) {
  if (value >= min && value <= max) return TRUE;
  return kr_front_fail(error, KR_EXIT_USAGE, "--%s %d: not in %d..%d", name, value, min, max);
}

static gboolean check_options(options *o, GError **error) {
  if (!in_range("dim", o->dim, 1, 1 << 16, error) ||
      !in_range("layers", o->layers, 1, 512, error) ||
      !in_range("heads", o->heads, 1, 1 << 10, error) ||
      !in_range("kv-heads", o->kv_heads, 1, o->heads, error) ||
      !in_range("ff", o->ff, 1, 1 << 18, error) ||
      !in_range("vocab", o->vocab, KR_BYTE_VOCAB_MIN, 1 << 22, error) ||
      !in_range("ctx", o->ctx, 1, 1 << 24, error))
    return FALSE;
  if (o->heads % o->kv_heads)
    return kr_front_fail(error, KR_EXIT_USAGE, "--heads %d: no multiple of --kv-heads %d", o->heads,
                         o->kv_heads);
  if (!o->head_dim && o->dim % o->heads)
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "--dim %d: no multiple of --heads %d, and no --head-dim", o->dim,
                         o->heads);
  if (!o->head_dim) o->head_dim = o->dim / o->heads;
  if (!in_range("head-dim", o->head_dim, 2, 1 << 10, error)) return FALSE;
  if (o->head_dim % 2)
    return kr_front_fail(error, KR_EXIT_USAGE, "heads of %d values: not even", o->head_dim);
  if (!find_type(o, error)) return FALSE;
  const kr_type_info *info = kr_type_get(o->type);
  const int inputs[] = {o->dim, o->ff, o->heads * o->head_dim};
  for (gsize i = 0; i < G_N_ELEMENTS(inputs); i++)
    if (inputs[i] % info->block)
      return kr_front_fail(error, KR_EXIT_USAGE,
                           "matrices with %d inputs: %s has blocks of %d values", inputs[i],
                           info->name, info->block);
  return TRUE;
}

static gboolean parse(int *argc, char ***argv, options *o, GError **error) {
  const GOptionEntry entries[] = {
      {"type", 0, 0, G_OPTION_ARG_STRING, &o->type_name, "type of the matrices (F32)", "TYPE"},
      {"dim", 0, 0, G_OPTION_ARG_INT, &o->dim, "width of the model (64)", "N"},
      {"layers", 0, 0, G_OPTION_ARG_INT, &o->layers, "layers (2)", "N"},
      {"heads", 0, 0, G_OPTION_ARG_INT, &o->heads, "heads (4)", "N"},
      {"kv-heads", 0, 0, G_OPTION_ARG_INT, &o->kv_heads, "heads of keys and values (2)", "N"},
      {"head-dim", 0, 0, G_OPTION_ARG_INT, &o->head_dim, "values a head (dim / heads)", "N"},
      {"ff", 0, 0, G_OPTION_ARG_INT, &o->ff, "width of the feed-forward layers (128)", "N"},
      {"vocab", 0, 0, G_OPTION_ARG_INT, &o->vocab, "tokens, 259 or more (320)", "N"},
      {"ctx", 0, 0, G_OPTION_ARG_INT, &o->ctx, "positions the model is said to be made for (512)",
       "N"},
      {"tied", 0, 0, G_OPTION_ARG_NONE, &o->tied, "use the token embedding as output", NULL},
      {"bias", 0, 0, G_OPTION_ARG_NONE, &o->bias, "with biases", NULL},
      {"rope-factors", 0, 0, G_OPTION_ARG_NONE, &o->rope_factors, "with rope_freqs.weight", NULL},
      {"seed", 0, 0, G_OPTION_ARG_INT64, &o->seed, "seed of the weights (1)", "N"},
      {0},
  };
  GOptionContext *context = g_option_context_new("OUTPUT.gguf");
  g_option_context_set_summary(context, "Writes a random Llama model.");
  g_option_context_add_main_entries(context, entries, NULL);
  gboolean ok = kr_front_parse(context, argc, argv, error);
  g_option_context_free(context);
  if (ok && *argc != 2)
    ok = kr_front_fail(error, KR_EXIT_USAGE, "one output file is needed (see --help)");
  if (ok && !o->type_name) o->type_name = g_strdup("F32");
  return ok && check_options(o, error);
}

int main(int argc, char **argv) {
  options o = {.dim = 64,
               .layers = 2,
               .heads = 4,
               .kv_heads = 2,
               .ff = 128,
               .vocab = 320,
               .ctx = 512,
               .seed = 1};
  GError *error = NULL;
  gboolean ok = parse(&argc, &argv, &o, &error) && write_model(&o, argv[1], &error);
  g_free(o.type_name);
  return ok ? 0 : kr_front_report(error);
}
