/* Vocabularies: from a source's metadata, and the questions that need no encoding. */
#include "text/vocab_parts.h"
#include <string.h>

#define KEY "tokenizer.ggml."

/* ---- byte-level BPE: what the name in tokenizer.ggml.pre stands for ---------------------------
 */

typedef struct pre {
  const char *name;
  kr_split split;
  bool nfc, ignore_merges, add_bos; /* add_bos: unless the file says otherwise */
} pre;

static const pre pres[] = {
    {"gpt-2", KR_SPLIT_GPT2, false, false, false},
    {"default", KR_SPLIT_GPT2, false, false, false}, /* of files that know no better */
    {"phi-2", KR_SPLIT_GPT2, false, false, false},
    {"mpt", KR_SPLIT_GPT2, false, false, false},
    {"olmo", KR_SPLIT_GPT2, false, false, false},
    {"jais", KR_SPLIT_GPT2, false, false, false},
    {"smollm", KR_SPLIT_SMOLLM, false, false, false},
    {"starcoder", KR_SPLIT_SMOLLM, false, false, false},
    {"refact", KR_SPLIT_SMOLLM, false, false, false},
    {"command-r", KR_SPLIT_SMOLLM, false, false, false},
    {"codeshell", KR_SPLIT_SMOLLM, false, false, false},
    {"exaone", KR_SPLIT_SMOLLM, false, false, false},
    {"qwen2", KR_SPLIT_QWEN2, true, false, false},
    {"deepseek-r1-qwen", KR_SPLIT_QWEN2, true, false, false},
    {"megrez", KR_SPLIT_QWEN2, true, false, false},
    {"qwen35", KR_SPLIT_QWEN35, true, false, false},
    {"llama-bpe", KR_SPLIT_LLAMA3, false, true, true},
    {"llama3", KR_SPLIT_LLAMA3, false, true, true},
    {"llama-v3", KR_SPLIT_LLAMA3, false, true, true},
    {"falcon3", KR_SPLIT_LLAMA3, false, true, true},
    {"lfm2", KR_SPLIT_LLAMA3, false, true, true},
    {"pixtral", KR_SPLIT_LLAMA3, false, true, true},
    {"deepseek-v3", KR_SPLIT_DEEPSEEK, false, false, false},
    {"hunyuan-dense", KR_SPLIT_DEEPSEEK, false, false, false},
    {"joyai-llm", KR_SPLIT_DEEPSEEK, false, false, false},
    {"deepseek-llm", KR_SPLIT_DEEPSEEK_LLM, false, false, false},
    {"deepseek-coder", KR_SPLIT_DEEPSEEK_CODER, false, false, false},
    {"gpt-4o", KR_SPLIT_O200K, false, false, false},
    {"llama4", KR_SPLIT_O200K, false, false, false},
    {"kanana2", KR_SPLIT_O200K, false, false, false},
    {"tekken", KR_SPLIT_TEKKEN, false, true, true},
};

static bool equals(kr_text text, const char *name) {
  return text.n == strlen(name) && !memcmp(text.data, name, text.n);
}

static int refuse_name(const char *key, kr_text name, const char *what, kr_error *err) {
  char shown[80];
  return kr_fail(err, KR_E_UNSUPPORTED, "%s: \"%s\" is %s", key,
                 kr_printable(shown, sizeof shown, name.data, name.n), what);
}

static int read_bpe(const kr_source *source, kr_vocab *v, kr_error *err) {
  kr_text name = {"gpt-2", 5}; /* files from before that key */
  int code = kr_source_string(source, KEY "pre", &name, err);
  const pre *found = NULL;
  for (size_t i = 0; i < sizeof pres / sizeof *pres; i++)
    if (equals(name, pres[i].name)) found = &pres[i];
  if (!code && !found)
    code = refuse_name(KEY "pre", name, "no pre-tokenizer that is known here", err);
  if (!code) code = kr_tokens_read(source, KR_SPELLING_BYTES, &v->tokens, err);
  if (!code) code = kr_bpe_read(source, &v->tokens, &v->bpe, err);
  if (code) return code;
  v->split = found->split;
  v->nfc = found->nfc;
  v->ignore_merges = found->ignore_merges;
  v->add_bos = found->add_bos;
  return KR_OK;
}

/* ---- ids of special tokens --------------------------------------------------------------------
 */

/* absent is what to take without the key; a value that is no id of the vocabulary gives -1. */
static int read_id(const kr_source *source, const kr_vocab *v, const char *key, int32_t absent,
                   int32_t *ret_id, kr_error *err) {
  int64_t id = absent;
  int code = kr_source_int(source, key, INT64_MIN, INT64_MAX, &id, err);
  if (code) return code;
  bool present = kr_source_get(source, key);
  if (!present && absent >= v->tokens.n)
    return kr_fail(err, KR_E_FORMAT, "%s is missing, and its usual value %ld is no token of %ld",
                   key, (long)absent, (long)v->tokens.n);
  *ret_id = id >= 0 && id < v->tokens.n ? (int32_t)id : -1;
  return KR_OK;
}

/* Tokens that end a turn or a text in the templates of known families. */
static const char *const ends[] = {
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<end_of_turn>",
    "<turn|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "</s>",
    "<eos>",
    "<EOT>",
    "<|EOT|>",
    "<|return|>",
    "<|call|>",
    "<|end_of_turn|>",
    "<|eot|>",
    "<|eom|>",
    "<|endofprompt|>",
    "<end_of_utterance>",
    "<|END_OF_TURN_TOKEN|>",
    "<｜end▁of▁sentence｜>",
};

static void find_ends(kr_vocab *v) {
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    int32_t id = kr_vocab_find(v, ends[i]);
    if (id < 0) continue;
    int kind = v->tokens.kind[id];
    if (kind == KR_TOKEN_CONTROL || kind == KR_TOKEN_USER) v->end[id] = 1;
  }
  /* where a turn has parts, <|end|> ends a part, and others end the turn */
  int32_t part = kr_vocab_find(v, "<|end|>");
  if (part >= 0 && kr_vocab_find(v, "<|return|>") >= 0 && kr_vocab_find(v, "<|call|>") >= 0)
    v->end[part] = 0;
}

static int read_ids(const kr_source *source, kr_vocab *v, kr_error *err) {
  static const char *const more[] = {KEY "eot_token_id", KEY "eom_token_id"};
  bool own = false, spm = v->kind == KR_VOCAB_SPM;
  int code = kr_vocab_own(source, &own, err);
  if (own) spm = false; /* no usual values: what is not there is not */
  if (!code) code = read_id(source, v, KEY "bos_token_id", spm ? 1 : -1, &v->bos, err);
  if (!code) code = read_id(source, v, KEY "eos_token_id", spm ? 2 : -1, &v->eos, err);
  int32_t id = -1;
  /* not used, but a value of another type is an error in them too */
  if (!code) code = read_id(source, v, KEY "padding_token_id", -1, &id, err);
  if (!code) code = read_id(source, v, KEY "unknown_token_id", -1, &id, err);
  if (!code) code = kr_source_bool(source, KEY "add_bos_token", &v->add_bos, err);
  if (!code) code = kr_source_bool(source, KEY "add_eos_token", &v->add_eos, err);
  if (code) return code;
  find_ends(v);
  for (size_t i = 0; i < 2; i++) {
    if ((code = read_id(source, v, more[i], -1, &id, err))) return code;
    if (id >= 0) v->end[id] = 1;
  }
  if (v->bos >= 0) v->end[v->bos] = 1;
  if (v->eos >= 0) v->end[v->eos] = 1;
  return KR_OK;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static int read_spm(const kr_source *source, kr_vocab *v, kr_error *err) {
  int32_t unknown = -1;
  bool space = true;
  int code = kr_tokens_read(source, KR_SPELLING_SPACES, &v->tokens, err);
  bool own = false;
  if (!code) code = kr_vocab_own(source, &own, err);
  if (!code) code = read_id(source, v, KEY "unknown_token_id", own ? -1 : 0, &unknown, err);
  if (!code) code = kr_source_bool(source, "krafla.tokenizer.pairs", &v->pairs, err);
  if (!code) code = kr_spm_read(source, &v->tokens, unknown, v->pairs, &v->spm, err);
  if (!code && v->pairs) code = kr_bpe_read(source, &v->tokens, &v->bpe, err);
  if (!code) code = kr_source_bool(source, KEY "add_space_prefix", &space, err);
  v->prefix = space ? KR_PREFIX_EACH : KR_PREFIX_NONE;
  v->add_bos = true;
  if (!code) code = kr_vocab_read_prefix(source, v, err);
  v->strip = v->prefix != KR_PREFIX_NONE;
  return code;
}

static int read_model(const kr_source *source, kr_vocab *v, kr_error *err) {
  static const char key[] = KEY "model";
  kr_text name = {NULL, 0};
  int code = kr_source_string(source, key, &name, err);
  if (code) return code;
  if (!name.data) return kr_fail(err, KR_E_FORMAT, "%s is missing", key);
  if (equals(name, "gpt2")) return v->kind = KR_VOCAB_BPE, read_bpe(source, v, err);
  if (equals(name, "llama")) return v->kind = KR_VOCAB_SPM, read_spm(source, v, err);
  if (equals(name, "t5")) return refuse_name(key, name, "Unigram, which is not supported", err);
  if (equals(name, "bert")) return refuse_name(key, name, "WordPiece, which is not supported", err);
  return refuse_name(key, name, "no tokenizer model that is known here", err);
}

/* A template of another type, or with zero bytes in it, is as good as none: text still works. */
static int read_chat(const kr_source *source, kr_vocab *v, kr_error *err) {
  kr_text chat = {NULL, 0};
  if (kr_source_string(source, "tokenizer.chat_template", &chat, NULL) || !chat.data ||
      memchr(chat.data, 0, chat.n))
    return KR_OK;
  v->chat_template = kr_strndup(chat.data, chat.n);
  return v->chat_template ? KR_OK : kr_fail_memory(err, "a chat template");
}

static int read_all(const kr_source *source, int64_t n_rows, kr_vocab *v, kr_error *err) {
  int code = read_model(source, v, err);
  if (code) return code;
  bool own = false;
  if ((code = kr_vocab_own(source, &own, err))) return code;
  if (n_rows >= 0 && v->tokens.n != n_rows)
    return kr_fail(err, KR_E_FORMAT,
                   KEY "tokens: has %ld tokens for %lld rows of token_embd.weight",
                   (long)v->tokens.n, (long long)n_rows);
  v->end = kr_alloc((size_t)v->tokens.n, 1);
  v->whole = kr_alloc((size_t)v->tokens.n, sizeof *v->whole);
  if (!v->end || !v->whole) return kr_fail_memory(err, "tokens");
  if (!own) code = kr_special_read(source, &v->tokens, &v->special, err);
  if (!code) code = read_ids(source, v, err);
  if (!code) code = read_chat(source, v, err);
  return code || !own ? code : kr_vocab_read_own(source, v, err);
}

int kr_vocab_new(const kr_source *source, int64_t n_rows, kr_vocab **ret_vocab, kr_error *err) {
  kr_vocab *v = kr_alloc(1, sizeof *v);
  if (!v) return kr_fail_memory(err, "tokenizer");
  int code = read_all(source, n_rows, v, err);
  if (code) return kr_vocab_free(v), code;
  *ret_vocab = v;
  return KR_OK;
}

void kr_vocab_free(kr_vocab *vocab) {
  if (!vocab) return;
  kr_tokens_clear(&vocab->tokens);
  kr_special_clear(&vocab->special);
  kr_special_clear(&vocab->normalized);
  kr_array_free(vocab->before.data);
  kr_array_free(vocab->after.data);
  kr_bpe_clear(&vocab->bpe);
  kr_spm_clear(&vocab->spm);
  kr_free(vocab->chat_template);
  kr_free(vocab->end);
  kr_free((void *)vocab->whole);
  kr_free(vocab);
}

static bool is_id(const kr_vocab *vocab, int32_t id) {
  return id >= 0 && id < vocab->tokens.n;
}

const char *kr_vocab_bytes(const kr_vocab *vocab, int32_t id, int control, size_t *ret_n) {
  if (!is_id(vocab, id) || (!control && kr_vocab_is_hidden(vocab, id))) return *ret_n = 0, "";
  return (const char *)kr_tokens_bytes(&vocab->tokens, id, ret_n);
}

int32_t kr_vocab_find(const kr_vocab *vocab, const char *token) {
  return kr_tokens_spelled(&vocab->tokens, token, strlen(token));
}

int32_t kr_vocab_size(const kr_vocab *vocab) {
  return vocab->tokens.n;
}

const char *kr_vocab_chat_template(const kr_vocab *vocab) {
  return vocab->chat_template;
}

int32_t kr_vocab_bos(const kr_vocab *vocab) {
  return vocab->bos;
}

int32_t kr_vocab_eos(const kr_vocab *vocab) {
  return vocab->eos;
}

int kr_vocab_is_end(const kr_vocab *vocab, int32_t id) {
  return is_id(vocab, id) && vocab->end[id];
}

int kr_vocab_is_control(const kr_vocab *vocab, int32_t id) {
  return is_id(vocab, id) && kr_vocab_is_hidden(vocab, id);
}
