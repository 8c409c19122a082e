/* Opening models: what is read from a file, and every number and tensor that is refused. */
#include "model/model.h"
#include "gguf_edit.h"
#include "test_model.h"
#include <math.h>
#include <string.h>

#define MODEL "--type Q4_0 --dim 64 --heads 4 --kv-heads 2 --ff 96 --vocab 300 --rope-factors"

/* Opens the edited file; frees the edit. */
static int open_edited(kr_edit *edit, kr_model **ret_model, kr_error *err) {
  g_autofree char *path = kr_test_path("edited.gguf");
  kr_edit_save(edit, path);
  *ret_model = NULL;
  *err = (kr_error){0};
  int code = kr_model_open(path, NULL, ret_model, err);
  if (!code) return code;
  g_test_message("%s", err->message);
  g_assert_null(*ret_model);
  g_assert_cmpint(err->code, ==, code);
  g_assert_true(g_str_has_prefix(err->message, path)); /* and only once */
  g_assert_null(strstr(err->message + strlen(path), path));
  return code;
}

static void expect_refusal(kr_edit *edit, int code, const char *words) {
  kr_model *m;
  kr_error err;
  g_assert_cmpint(open_edited(edit, &m, &err), ==, code);
  g_assert_nonnull(strstr(err.message, words));
}

static void expect_success(kr_edit *edit) {
  kr_model *m;
  kr_error err;
  if (open_edited(edit, &m, &err)) g_error("%s", err.message);
  kr_model_free(m);
}

static kr_edit *edit(void) {
  return kr_edit_open(kr_test_model_path(MODEL));
}

static void test_info(void) {
  kr_model *m = kr_test_model(MODEL);
  const kr_model_info *info = kr_model_get_info(m);
  g_assert_cmpstr(info->architecture, ==, "llama");
  g_assert_cmpstr(info->name, ==, "random");
  g_assert_cmpstr(info->types, ==, "Q4_0");
  g_assert_cmpint(info->n_vocab, ==, 300);
  g_assert_cmpint(info->n_ctx, ==, 512);
  g_assert_cmpint(info->n_layers, ==, 2);
  g_assert_cmpint(info->dim, ==, 64);
  g_assert_cmpint(info->n_heads, ==, 4);
  g_assert_cmpint(info->n_kv_heads, ==, 2);
  g_assert_cmpint(info->head_dim, ==, 16);
  int64_t layer = 64 * (64 + 32 + 32 + 64) + 3 * 64 * 96 + 2 * 64;
  g_assert_cmpint(info->parameters, ==, 2 * 300 * 64 + 2 * layer + 64 + 8);
  /* packed: groups of 16 rows, pairs of blocks of 576 bytes; the embedding is not packed */
  int64_t groups = 2 * ((4 + 2 + 2 + 4) + 2 * 6 + 4 * 2) + 19;
  g_assert_cmpint(info->weight_bytes, ==, groups * 576);
  g_assert_cmpint(kr_vocab_size(kr_model_vocab(m)), ==, 300);
  g_assert_nonnull(strstr(kr_model_chat_template(m), "<|im_start|>"));
  kr_model_free(m);
  kr_model_free(NULL);
}

/* Integers, with values that no architecture or no file of this size can have. */
static void test_integers(void) {
  static const struct {
    const char *key;
    uint32_t value;
    int code;
    const char *words;
  } cases[] = {
      {"block_count", 0, KR_E_FORMAT, "llama.block_count"},
      {"block_count", 513, KR_E_FORMAT, "llama.block_count"},
      {"block_count", 3, KR_E_FORMAT, "blk.2.attn_norm.weight is missing"},
      {"context_length", 0, KR_E_FORMAT, "llama.context_length"},
      {"context_length", (1u << 30) + 1, KR_E_FORMAT, "llama.context_length"},
      {"embedding_length", 0, KR_E_FORMAT, "llama.embedding_length"},
      {"embedding_length", 65, KR_E_FORMAT, "llama.embedding_length"},
      {"embedding_length", 1u << 21, KR_E_FORMAT, "llama.embedding_length"},
      {"feed_forward_length", 0, KR_E_FORMAT, "llama.feed_forward_length"},
      {"feed_forward_length", 128, KR_E_FORMAT, "needs [64 (llama.embedding_length), 128"},
      {"attention.head_count", 0, KR_E_FORMAT, "llama.attention.head_count"},
      {"attention.head_count", 3, KR_E_FORMAT, "multiple"},
      {"attention.head_count", 8, KR_E_FORMAT, "attn_q.weight"},
      {"attention.head_count", 0xffffffff, KR_E_FORMAT, "llama.attention.head_count"},
      {"attention.head_count_kv", 0, KR_E_FORMAT, "llama.attention.head_count_kv"},
      {"attention.head_count_kv", 4, KR_E_FORMAT, "attn_k.weight"},
      {"attention.key_length", 0, KR_E_FORMAT, "llama.attention.key_length"},
      {"attention.key_length", 32, KR_E_FORMAT, "attn_q.weight"},
      {"attention.value_length", 8, KR_E_FORMAT, "attn_v.weight"},
      {"rope.dimension_count", 0, KR_E_FORMAT, "llama.rope.dimension_count"},
      {"rope.dimension_count", 15, KR_E_FORMAT, "not even"},
      {"rope.dimension_count", 18, KR_E_FORMAT, "16 values of a head"},
      {"rope.dimension_count", 8, KR_E_FORMAT, "rope_freqs.weight"},
      {"expert_count", 4, KR_E_UNSUPPORTED, "llama.expert_count"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *key = g_strconcat("llama.", cases[i].key, NULL);
    kr_edit *e = edit();
    kr_edit_u32(e, key, cases[i].value);
    expect_refusal(e, cases[i].code, cases[i].words);
  }
}

static void test_floats(void) {
  static const struct {
    const char *key;
    float value;
  } cases[] = {
      {"attention.layer_norm_rms_epsilon", -1e-6f},
      {"attention.layer_norm_rms_epsilon", 2},
      {"attention.layer_norm_rms_epsilon", NAN},
      {"rope.freq_base", 0},
      {"rope.freq_base", -10000},
      {"rope.freq_base", NAN},
      {"rope.freq_base", INFINITY},
      {"rope.scaling.factor", -1},
      {"rope.scaling.factor", NAN},
      {"rope.scale_linear", INFINITY},
      {"rope.scaling.factor", 1e-9f},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *key = g_strconcat("llama.", cases[i].key, NULL);
    kr_edit *e = edit();
    kr_edit_f32(e, key, cases[i].value);
    expect_refusal(e, KR_E_FORMAT, key);
  }
}

static void test_missing_keys(void) {
  static const char *const required[] = {"general.architecture",
                                         "llama.block_count",
                                         "llama.context_length",
                                         "llama.embedding_length",
                                         "llama.feed_forward_length",
                                         "llama.attention.head_count",
                                         "llama.attention.layer_norm_rms_epsilon"};
  for (size_t i = 0; i < G_N_ELEMENTS(required); i++) {
    kr_edit *e = edit();
    kr_edit_remove(e, required[i]);
    expect_refusal(e, KR_E_FORMAT, required[i]);
  }
  static const char *const derived[] = {
      "llama.attention.key_length", "llama.attention.value_length",
      "llama.rope.dimension_count", "llama.rope.freq_base",
      "llama.vocab_size",           "general.name"};
  for (size_t i = 0; i < G_N_ELEMENTS(derived); i++) {
    kr_edit *e = edit();
    kr_edit_remove(e, derived[i]);
    expect_success(e);
  }
  kr_edit *e = edit(); /* then as many as there are query heads: attn_k is too small for that */
  kr_edit_remove(e, "llama.attention.head_count_kv");
  expect_refusal(e, KR_E_FORMAT, "attn_k.weight");
}

/* A number for each layer, all equal, is the same as one number. */
static void test_per_layer(void) {
  static const uint32_t equal[] = {96, 96}, different[] = {96, 64}, short_one[] = {96};
  kr_edit *e = edit();
  kr_edit_u32s(e, "llama.feed_forward_length", equal, 2);
  expect_success(e);
  e = edit();
  kr_edit_u32s(e, "llama.feed_forward_length", different, 2);
  expect_refusal(e, KR_E_UNSUPPORTED, "layer to layer");
  e = edit();
  kr_edit_u32s(e, "llama.feed_forward_length", short_one, 1);
  expect_refusal(e, KR_E_FORMAT, "llama.feed_forward_length");
}

static void test_names(void) {
  kr_edit *e = edit();
  kr_edit_string(e, "general.architecture", "warp9");
  expect_refusal(e, KR_E_UNSUPPORTED, "warp9");
  e = edit();
  kr_edit_string(e, "general.architecture", "");
  expect_refusal(e, KR_E_UNSUPPORTED, "general.architecture");
  e = edit();
  kr_edit_u32(e, "general.architecture", 3);
  expect_refusal(e, KR_E_FORMAT, "general.architecture");
  e = edit();
  kr_edit_string(e, "llama.rope.scaling.type", "yarn");
  expect_refusal(e, KR_E_UNSUPPORTED, "yarn");
  e = edit();
  kr_edit_string(e, "llama.rope.scaling.type", "none");
  expect_success(e);
  e = edit();
  kr_edit_string(e, "llama.block_count", "2");
  expect_refusal(e, KR_E_FORMAT, "llama.block_count");
}

static void test_tensors(void) {
  static const char *const required[] = {"token_embd.weight", "output_norm.weight",
                                         "blk.0.attn_norm.weight", "blk.1.ffn_down.weight"};
  for (size_t i = 0; i < G_N_ELEMENTS(required); i++) {
    kr_edit *e = edit();
    kr_edit_remove_tensor(e, required[i]);
    expect_refusal(e, KR_E_FORMAT, required[i]);
  }
  kr_edit *e = edit(); /* tied, without factors */
  kr_edit_remove_tensor(e, "output.weight");
  kr_edit_remove_tensor(e, "rope_freqs.weight");
  expect_success(e);
  e = edit();
  kr_edit_add_f32(e, "blk.0.attn_q.bias", 63, 0, 0);
  expect_refusal(e, KR_E_FORMAT, "blk.0.attn_q.bias");
  e = edit();
  kr_edit_add_f32(e, "blk.0.attn_q.bias", 64, 1, 0); /* [64, 1] is a vector too */
  expect_success(e);
  e = edit();
  kr_edit_add_f32(e, "blk.7.unknown.weight", 5, 5, 0); /* what nobody asks for does no harm */
  expect_success(e);
}

/* Factors of the rotation that would make angles that are no numbers, or beyond reason. */
static void test_rope_factors(void) {
  static const float bad[] = {0, -0.0f, NAN, INFINITY, -1, 1e-38f};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
    kr_edit *e = edit();
    memcpy(kr_edit_data(e, "rope_freqs.weight") + 3 * 4, &bad[i], 4);
    expect_refusal(e, KR_E_FORMAT, "rope_freqs.weight");
  }
}

typedef struct progress {
  int calls, stop_at;
  double last;
} progress;

static int on_progress(void *data, double fraction) {
  progress *p = data;
  g_assert_cmpfloat(fraction, >=, p->last);
  g_assert_cmpfloat(fraction, <=, 1);
  p->last = fraction;
  return ++p->calls == p->stop_at;
}

static void test_progress(void) {
  progress all = {0};
  kr_model_options o = {.threads = 2, .progress = on_progress, .progress_data = &all};
  kr_model *m;
  const char *path = kr_test_model_path(MODEL);
  g_assert_cmpint(kr_model_open(path, &o, &m, NULL), ==, KR_OK);
  kr_model_free(m);
  g_assert_cmpfloat(all.last, ==, 1);
  g_assert_cmpint(all.calls, >=, 15); /* matrices */
  for (int stop_at = 1; stop_at < all.calls; stop_at++) {
    progress p = {.stop_at = stop_at};
    kr_error err;
    m = NULL;
    o.progress_data = &p;
    g_assert_cmpint(kr_model_open(path, &o, &m, &err), ==, KR_E_CANCELLED);
    g_assert_null(m);
    g_assert_true(g_str_has_prefix(err.message, path));
    g_assert_cmpint(p.calls, ==, stop_at);
  }
}

static void test_paths(void) {
  g_autofree char *missing = kr_test_path("missing.gguf"), *empty = kr_test_path("empty.gguf");
  g_assert_true(g_file_set_contents(empty, "", 0, NULL));
  const char *const paths[] = {missing, empty, "/dev/null", "/", ""};
  for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
    kr_model *m = NULL;
    kr_error err = {0};
    int code = kr_model_open(paths[i], NULL, &m, &err);
    g_test_message("%s", err.message);
    g_assert_true(code == KR_E_IO || code == KR_E_FORMAT);
    g_assert_null(m);
    g_assert_true(g_str_has_prefix(err.message, paths[i]));
  }
  kr_model_options o = {.threads = 5000};
  kr_model *m = NULL;
  g_assert_cmpint(kr_model_open(kr_test_model_path(MODEL), &o, &m, NULL), ==, KR_E_ARGUMENT);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/model/info", test_info);
  g_test_add_func("/model/integers", test_integers);
  g_test_add_func("/model/floats", test_floats);
  g_test_add_func("/model/missing-keys", test_missing_keys);
  g_test_add_func("/model/per-layer", test_per_layer);
  g_test_add_func("/model/names", test_names);
  g_test_add_func("/model/tensors", test_tensors);
  g_test_add_func("/model/rope-factors", test_rope_factors);
  g_test_add_func("/model/progress", test_progress);
  g_test_add_func("/model/paths", test_paths);
  return kr_test_clean(g_test_run());
}
