/* A Hugging Face tokenizer.json: its tokens, added tokens and merges, put into GGUF's keys, and
 * what has no keys there into our own (vocab_own.c). A file that the reference would number or
 * merge differently than it says is refused. */
#include "base/size.h"
#include "formats/names.h"
#include "text/special.h"
#include "text/tokenizer_file.h"
#include <string.h>

#define GGML "tokenizer.ggml."
#define OWN  "krafla.tokenizer."

typedef struct added {
  kr_text content;
  int64_t id;
  uint8_t flags; /* KR_ADDED_* */
} added;

typedef struct reader {
  const kr_tokenizer_config *config;
  kr_json_value vocab, merges, unknown;
  kr_pipeline pipeline;
  bool byte_fallback, fuse_unknown, ignore_merges;
  char *room; /* of strings that have escapes: all of them are shorter than the file */
  size_t used;
  kr_text *texts; /* [n] by id; data NULL: no token has it */
  uint8_t *kinds; /* [n] */
  int64_t n, n_vocab;
  added *added; /* [n_added] in the file's order */
  size_t n_added;
  kr_names names; /* of them */
  kr_error *err;
} reader;

static kr_text text_of(reader *r, kr_json_value string) {
  char *room = r->room + r->used;
  kr_text text = kr_json_string(string, room);
  if (text.data == room) r->used += text.n;
  return text;
}

static int fail_text(const reader *r, int code, const char *where, kr_text text, const char *what) {
  char shown[120];
  return kr_fail(r->err, code, "%s: \"%s\" %s", where,
                 kr_printable(shown, sizeof shown, text.data, text.n), what);
}

static int expect(const reader *r, kr_json_value value, kr_json_type type, const char *name) {
  kr_json_type is = kr_json_type_of(value);
  if (is == type) return KR_OK;
  return kr_fail(r->err, KR_E_FORMAT, "%s: is %s, expected %s", name, kr_json_type_name(is),
                 kr_json_type_name(type));
}

/* ---- the model --------------------------------------------------------------------------------
 */

/* Absent, null, or an empty string. */
static bool is_empty(kr_json_value value) {
  kr_json_type type = kr_json_type_of(value);
  return type == KR_JSON_ABSENT || type == KR_JSON_NULL || kr_json_equals(value, "");
}

enum { TYPE, VOCAB, MERGES, UNK, PREFIX, SUFFIX, FUSE, FALLBACK, IGNORE, DROPOUT, N_MEMBERS };

/* Large objects are walked as seldom as can be: their members are found once. */
static int find_model(const reader *r, kr_json_value model, kr_json_value m[N_MEMBERS]) {
  static const char *const names[N_MEMBERS] = {"type",
                                               "vocab",
                                               "merges",
                                               "unk_token",
                                               "continuing_subword_prefix",
                                               "end_of_word_suffix",
                                               "fuse_unk",
                                               "byte_fallback",
                                               "ignore_merges",
                                               "dropout"};
  int code = expect(r, model, KR_JSON_OBJECT, "model");
  if (code) return code;
  kr_json_members(model, names, N_MEMBERS, m);
  if (!m[TYPE].at && kr_json_type_of(m[VOCAB]) == KR_JSON_ARRAY)
    return kr_fail(r->err, KR_E_UNSUPPORTED, "model: Unigram is not supported, only BPE is");
  if (!m[TYPE].at && kr_json_type_of(m[VOCAB]) == KR_JSON_OBJECT && !m[MERGES].at)
    return kr_fail(r->err, KR_E_UNSUPPORTED, "model: WordPiece is not supported, only BPE is");
  if (!m[TYPE].at || kr_json_equals(m[TYPE], "BPE")) return KR_OK;
  char room[64];
  kr_text type = {"?", 1};
  if (kr_json_type_of(m[TYPE]) == KR_JSON_STRING && kr_json_string_size(m[TYPE]) <= sizeof room)
    type = kr_json_string(m[TYPE], room);
  return fail_text(r, KR_E_UNSUPPORTED, "model.type", type, "is not supported, only BPE is");
}

static int read_model(reader *r, const kr_json_value m[N_MEMBERS]) {
  int code = expect(r, m[VOCAB], KR_JSON_OBJECT, "model.vocab");
  if (!code) code = expect(r, m[MERGES], KR_JSON_ARRAY, "model.merges");
  if (code) return code;
  if (!is_empty(m[PREFIX]) || !is_empty(m[SUFFIX]))
    return kr_fail(r->err, KR_E_UNSUPPORTED,
                   "model: a continuing_subword_prefix or end_of_word_suffix is not supported");
  int64_t zero;
  if (kr_json_type_of(m[DROPOUT]) == KR_JSON_NUMBER && !kr_json_int(m[DROPOUT], 0, 0, &zero) &&
      strncmp((const char *)m[DROPOUT].at, "0.0", 3) != 0)
    return kr_fail(r->err, KR_E_UNSUPPORTED, "model.dropout: merges by chance are not supported");
  r->vocab = m[VOCAB], r->merges = m[MERGES], r->unknown = m[UNK];
  r->fuse_unknown = kr_json_true(m[FUSE]);
  r->byte_fallback = kr_json_true(m[FALLBACK]);
  r->ignore_merges = kr_json_true(m[IGNORE]);
  if (r->ignore_merges && !r->pipeline.pre)
    return kr_fail(r->err, KR_E_UNSUPPORTED,
                   "model.ignore_merges: is not supported without the pre-tokenizer ByteLevel");
  return KR_OK;
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

static int read_id(const reader *r, kr_json_value value, const char *where, int64_t *ret_id) {
  if (kr_json_int(value, 0, INT32_MAX - 1, ret_id)) return KR_OK;
  return kr_fail(r->err, KR_E_FORMAT, "%s: an id is not a whole number from 0 to %ld", where,
                 (long)INT32_MAX - 1);
}

static int count_tokens(reader *r, kr_json_value list) {
  kr_json_value key, value;
  int64_t most = -1, id;
  for (kr_json_walk walk = kr_json_begin(r->vocab); kr_json_next(&walk, &key, &value);) {
    int code = read_id(r, value, "model.vocab", &id);
    if (code) return code;
    if (id > most) most = id;
    r->n_vocab++;
  }
  if (kr_json_type_of(list) == KR_JSON_ARRAY)
    for (kr_json_walk walk = kr_json_begin(list); kr_json_next(&walk, &key, &value);) r->n_added++;
  size_t n_added = r->n_added;
  if (kr_json_type_of(r->config->added) == KR_JSON_OBJECT)
    for (kr_json_walk walk = kr_json_begin(r->config->added); kr_json_next(&walk, &key, &value);)
      n_added++;
  r->n = most + 1 > r->n_vocab ? most + 1 : r->n_vocab;
  r->n += (int64_t)n_added; /* those that are new come behind */
  if (!r->n_vocab) return kr_fail(r->err, KR_E_FORMAT, "model.vocab: has no tokens");
  if (most >= 4 * (r->n_vocab + 16384))
    return kr_fail(r->err, KR_E_UNSUPPORTED, "model.vocab: has the id %ld, but only %ld tokens",
                   (long)most, (long)r->n_vocab);
  r->texts = kr_alloc((size_t)r->n, sizeof *r->texts);
  r->kinds = kr_alloc((size_t)r->n, 1);
  r->added = kr_alloc(n_added, sizeof *r->added);
  if (!r->texts || !r->kinds || !r->added) return kr_fail_memory(r->err, "tokens");
  return KR_OK;
}

static bool is_named_byte(kr_text text) {
  if (text.n != 6 || memcmp(text.data, "<0x", 3) || text.data[5] != '>') return false;
  for (int i = 3; i < 5; i++)
    if (!text.data[i] || !strchr("0123456789ABCDEF", text.data[i])) return false;
  return true;
}

static int read_vocab(reader *r) {
  kr_json_value key, value;
  for (kr_json_walk walk = kr_json_begin(r->vocab); kr_json_next(&walk, &key, &value);) {
    int64_t id = 0;
    (void)kr_json_int(value, 0, INT32_MAX, &id);
    kr_text text = text_of(r, key);
    if (r->texts[id].data)
      return fail_text(r, KR_E_FORMAT, "model.vocab", text, "has the id of another token");
    size_t i = kr_names_find(&r->names, r->added, sizeof *r->added, text.data, text.n);
    if (i != SIZE_MAX && r->added[i].id != id)
      return fail_text(r, KR_E_FORMAT, "added_tokens", text, "has another id in model.vocab");
    r->texts[id] = text;
    bool byte = !r->pipeline.pre && r->byte_fallback && is_named_byte(text);
    r->kinds[id] = byte ? KR_TOKEN_BYTE : KR_TOKEN_NORMAL;
  }
  return KR_OK;
}

/* All but the id. */
static int read_one(reader *r, kr_json_value value, added *a, kr_json_value *ret_id) {
  static const char *const names[] = {"content", "id",          "special",   "lstrip",
                                      "rstrip",  "single_word", "normalized"};
  kr_json_value m[7];
  kr_json_members(value, names, 7, m);
  int code = expect(r, m[0], KR_JSON_STRING, "added_tokens: content");
  if (code) return code;
  a->content = text_of(r, m[0]);
  for (int i = 0; i < 5; i++) a->flags |= (uint8_t)(kr_json_true(m[2 + i]) << i);
  /* what the reference takes a token to be that does not say */
  if (!m[6].at && !(a->flags & KR_ADDED_SPECIAL)) a->flags |= KR_ADDED_NORMALIZED;
  *ret_id = m[1];
  return KR_OK;
}

/* Those that only tokenizer_config.json has, by id: {"7": {"content": ...}}. */
static int read_more(reader *r) {
  kr_json_value key, value, none;
  if (kr_json_type_of(r->config->added) != KR_JSON_OBJECT) return KR_OK;
  for (kr_json_walk walk = kr_json_begin(r->config->added); kr_json_next(&walk, &key, &value);) {
    added *a = &r->added[r->n_added];
    *a = (added){.id = 0};
    int code = read_one(r, value, a, &none);
    if (code) return code;
    if (kr_names_find(&r->names, r->added, sizeof *a, a->content.data, a->content.n) != SIZE_MAX)
      continue;
    const uint8_t *digit = key.at + 1;
    for (; *digit >= '0' && *digit <= '9' && a->id < INT32_MAX; digit++)
      a->id = a->id * 10 + (*digit - '0');
    if (*digit != '"' || a->id >= INT32_MAX)
      return fail_text(r, KR_E_FORMAT, "tokenizer_config.json: added_tokens_decoder", a->content,
                       "has no id");
    r->n_added++;
  }
  return KR_OK;
}

static int read_added(reader *r, kr_json_value list) {
  kr_json_type type = kr_json_type_of(list);
  int code = KR_OK;
  if (type != KR_JSON_ABSENT && type != KR_JSON_NULL)
    code = expect(r, list, KR_JSON_ARRAY, "added_tokens");
  kr_json_value key, value, id;
  size_t n = 0;
  if (!code && type == KR_JSON_ARRAY)
    for (kr_json_walk walk = kr_json_begin(list); kr_json_next(&walk, &key, &value); n++) {
      if ((code = read_one(r, value, &r->added[n], &id))) return code;
      if ((code = read_id(r, id, "added_tokens", &r->added[n].id))) return code;
    }
  if (code) return code;
  size_t twins[2];
  code = kr_names_build(r->added, sizeof *r->added, r->n_added, &r->names, twins);
  if (code == KR_E_MEMORY) return kr_fail_memory(r->err, "added tokens");
  if (code)
    return fail_text(r, KR_E_FORMAT, "added_tokens", r->added[twins[1]].content,
                     "stands there twice");
  return read_more(r);
}

/* New tokens get the ids that the reference gives them, whatever the file says: it must agree. */
static int place_added(reader *r) {
  int64_t most = -1, end = 0;
  for (int64_t id = 0; id < r->n; id++)
    if (r->texts[id].data) end = id + 1;
  for (size_t i = 0; i < r->n_added; i++) {
    const added *a = &r->added[i];
    bool known = a->id < r->n && r->texts[a->id].data && r->texts[a->id].n == a->content.n &&
                 !memcmp(r->texts[a->id].data, a->content.data, a->content.n);
    int64_t expected = known ? a->id : most >= r->n_vocab ? most + 1 : r->n_vocab;
    if (a->id != expected || (!known && r->texts[a->id].data))
      return fail_text(r, KR_E_UNSUPPORTED, "added_tokens", a->content,
                       "has an id that is not the next one");
    if (a->id > most) most = a->id;
    if (a->id >= end) end = a->id + 1;
    r->texts[a->id] = a->content;
    r->kinds[a->id] = a->flags & KR_ADDED_SPECIAL ? KR_TOKEN_CONTROL : KR_TOKEN_USER;
  }
  r->n = end;
  return KR_OK;
}

static int32_t find(const reader *r, const char *text, size_t n) {
  for (int64_t i = 0; i < r->n; i++)
    if (r->texts[i].data && r->texts[i].n == n && !memcmp(r->texts[i].data, text, n))
      return (int32_t)i;
  return -1;
}

/* Byte-level models may name an unknown token that nothing leads to, since every byte is one. */
static bool has_all_bytes(const reader *r) {
  bool there[256] = {false};
  int count = 0;
  for (int64_t i = 0; i < r->n; i++) {
    uint8_t out[2];
    bool raw;
    if (!r->texts[i].data || !r->texts[i].n || r->texts[i].n > 2) continue;
    size_t n = kr_spelling_read(KR_SPELLING_BYTES, (const uint8_t *)r->texts[i].data, r->texts[i].n,
                                out, &raw);
    if (raw || n != 1 || there[out[0]]) continue;
    there[out[0]] = true, count++;
  }
  return count == 256;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static int write_merges(reader *r, kr_gguf_build *build) {
  kr_json_value key, merge, part;
  uint64_t n = 0;
  for (kr_json_walk walk = kr_json_begin(r->merges); kr_json_next(&walk, &key, &merge);) n++;
  kr_gguf_build_array(build, GGML "merges", KR_VALUE_STRING, n);
  for (kr_json_walk walk = kr_json_begin(r->merges); kr_json_next(&walk, &key, &merge);) {
    kr_text sides[2];
    size_t count = 0;
    if (kr_json_type_of(merge) == KR_JSON_STRING) {
      sides[0] = text_of(r, merge);
      const char *space = memchr(sides[0].data, ' ', sides[0].n);
      if (space) {
        size_t left = (size_t)(space - sides[0].data);
        sides[1] = (kr_text){space + 1, sides[0].n - left - 1};
        sides[0].n = left, count = 2;
      }
    } else if (kr_json_type_of(merge) == KR_JSON_ARRAY) {
      for (kr_json_walk pair = kr_json_begin(merge); kr_json_next(&pair, &key, &part); count++)
        if (kr_json_type_of(part) != KR_JSON_STRING)
          count = 2;
        else if (count < 2)
          sides[count] = text_of(r, part);
    }
    bool ok = count == 2;
    for (size_t i = 0; ok && i < 2; i++) ok = sides[i].n && !memchr(sides[i].data, ' ', sides[i].n);
    if (!ok) return kr_fail(r->err, KR_E_FORMAT, "model.merges: an element is not two tokens");
    kr_gguf_build_pair(build, sides[0], sides[1]);
  }
  return KR_OK;
}

static void write_tokens(const reader *r, kr_gguf_build *build) {
  kr_gguf_build_array(build, GGML "tokens", KR_VALUE_STRING, (uint64_t)r->n);
  for (int64_t i = 0; i < r->n; i++)
    kr_gguf_build_text(build, r->texts[i].data ? r->texts[i] : (kr_text){"", 0});
  kr_gguf_build_array(build, GGML "token_type", KR_VALUE_I32, (uint64_t)r->n);
  for (int64_t i = 0; i < r->n; i++)
    kr_gguf_build_le(build, r->texts[i].data ? r->kinds[i] : KR_TOKEN_UNUSED, 4);
}

static void write_added(const reader *r, kr_gguf_build *build) {
  kr_gguf_build_array(build, OWN "added", KR_VALUE_I32, r->n_added);
  for (size_t i = 0; i < r->n_added; i++) kr_gguf_build_le(build, (uint64_t)r->added[i].id, 4);
  kr_gguf_build_array(build, OWN "added_flags", KR_VALUE_U8, r->n_added);
  for (size_t i = 0; i < r->n_added; i++) kr_gguf_build_le(build, r->added[i].flags, 1);
}

/* The ids before or after the text; *ret_first is the first of them, or left alone. */
static int write_ids(const reader *r, const char *key, const kr_json_value *ids, size_t n,
                     int64_t *ret_first, kr_gguf_build *build) {
  kr_gguf_build_array(build, key, KR_VALUE_I32, n);
  for (size_t i = 0; i < n; i++) {
    int64_t id;
    if (!kr_json_int(ids[i], 0, r->n - 1, &id))
      return kr_fail(r->err, KR_E_FORMAT, "post_processor: an id is no token of %ld", (long)r->n);
    if (!i) *ret_first = id;
    kr_gguf_build_le(build, (uint64_t)id, 4);
  }
  return KR_OK;
}

/* The end of a text is not named in the file unless the post-processor adds it. */
static int64_t guess_end(const reader *r) {
  static const char *const ends[] = {"</s>", "<eos>", "<|end_of_text|>", "<|endoftext|>",
                                     "<\xef\xbd\x9c"
                                     "end\xe2\x96\x81of\xe2\x96\x81sentence"
                                     "\xef\xbd\x9c>"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    int32_t id = find(r, ends[i], strlen(ends[i]));
    if (id >= 0 && r->kinds[id] == KR_TOKEN_CONTROL) return id;
  }
  return -1;
}

/* The token that tokenizer_config.json names, if it is one. */
static void name_id(reader *r, kr_json_value token, int64_t *id) {
  token = kr_tokenizer_config_text(token);
  if (!token.at) return;
  kr_text text = text_of(r, token);
  int32_t found = find(r, text.data, text.n);
  if (found >= 0) *id = found;
}

static int write_all(reader *r, kr_gguf_build *build) {
  const kr_pipeline *p = &r->pipeline;
  const char *pre = p->pre ? p->pre : "default", *model = p->pre ? "gpt2" : "llama";
  int64_t bos = -1, eos = guess_end(r);
  kr_gguf_build_u32(build, OWN "version", 1);
  kr_gguf_build_string(build, GGML "model", (kr_text){model, strlen(model)});
  kr_gguf_build_string(build, GGML "pre", (kr_text){pre, strlen(pre)});
  if (!is_empty(r->unknown) && !p->pre) {
    kr_text text = text_of(r, r->unknown);
    int32_t id = find(r, text.data, text.n);
    if (id < 0) return fail_text(r, KR_E_FORMAT, "model.unk_token", text, "is no token");
    kr_gguf_build_u32(build, GGML "unknown_token_id", (uint32_t)id);
  }
  kr_gguf_build_bool(build, OWN "pairs", !p->pre);
  kr_gguf_build_bool(build, OWN "nfc", p->nfc);
  kr_gguf_build_bool(build, OWN "ignore_merges", r->ignore_merges);
  kr_gguf_build_string(build, OWN "prefix", (kr_text){p->prefix, strlen(p->prefix)});
  kr_gguf_build_bool(build, OWN "metaspace", p->metaspace);
  kr_gguf_build_bool(build, OWN "split_spaces", p->split_spaces);
  kr_gguf_build_bool(build, OWN "keep_unknown", !r->fuse_unknown);
  kr_gguf_build_bool(build, OWN "strip", p->strip);
  int code = write_ids(r, OWN "before", p->before, p->n_before, &bos, build);
  if (!code) code = write_ids(r, OWN "after", p->after, p->n_after, &eos, build);
  if (code) return code;
  name_id(r, r->config->bos, &bos);
  name_id(r, r->config->eos, &eos);
  if (bos >= 0) kr_gguf_build_u32(build, GGML "bos_token_id", (uint32_t)bos);
  if (eos >= 0) kr_gguf_build_u32(build, GGML "eos_token_id", (uint32_t)eos);
  write_tokens(r, build);
  write_added(r, build);
  return write_merges(r, build);
}

enum { ADDED = KR_N_STEPS, MODEL, N_PARTS };

static int read_all(reader *r, kr_json_value root, kr_gguf_build *build) {
  static const char *const names[N_PARTS] = {[KR_PRE_TOKENIZER] = "pre_tokenizer",
                                             [KR_NORMALIZER] = "normalizer",
                                             [KR_DECODER] = "decoder",
                                             [KR_POST_PROCESSOR] = "post_processor",
                                             [ADDED] = "added_tokens",
                                             [MODEL] = "model"};
  kr_json_value parts[N_PARTS], model[N_MEMBERS];
  int code = expect(r, root, KR_JSON_OBJECT, "the text");
  if (code) return code;
  kr_json_members(root, names, N_PARTS, parts);
  if (!parts[MODEL].at)
    return kr_fail(r->err, KR_E_FORMAT, "model: is missing; this is no tokenizer.json");
  code = find_model(r, parts[MODEL], model);
  if (!code) code = kr_pipeline_read(parts, &r->pipeline, r->err);
  if (!code) code = read_model(r, model);
  if (!code) code = count_tokens(r, parts[ADDED]);
  if (!code) code = read_added(r, parts[ADDED]);
  if (!code) code = read_vocab(r);
  if (!code) code = place_added(r);
  if (code) return code;
  if (r->pipeline.pre && !is_empty(r->unknown) && !has_all_bytes(r))
    return kr_fail(r->err, KR_E_UNSUPPORTED,
                   "model.unk_token: is not supported where some bytes have no token");
  return write_all(r, build);
}

int kr_tokenizer_json(const uint8_t *data, size_t n, const kr_tokenizer_config *config,
                      kr_gguf_build *build, kr_error *err) {
  static const kr_tokenizer_config none;
  kr_json_value root;
  int code = kr_json_check(data, n, &root, err);
  if (code) return code;
  if (!config) config = &none;
  size_t n_room; /* strings are shorter than the files that they stand in */
  if (!kr_add_size(n, config->file.size, &n_room)) return kr_fail_memory(err, "a tokenizer");
  reader r = {.config = config, .err = err, .room = kr_pages_alloc(n_room)};
  code = r.room ? read_all(&r, root, build) : kr_fail_memory(err, "a tokenizer");
  kr_pages_free(r.room, n_room);
  kr_free(r.texts);
  kr_free(r.kinds);
  kr_free(r.added);
  kr_names_clear(&r.names);
  return code;
}
