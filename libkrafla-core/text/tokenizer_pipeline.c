/* The normalizer, pre-tokenizer, post-processor and decoder of a tokenizer.json: recognized where
 * they are, item by item, what some family has; anything else is refused by its name. */
#include "text/tokenizer_file.h"
#include <string.h>

#define MARK      "\xe2\x96\x81" /* "▁" */
#define MAX_ITEMS 8

/* ---- sequences --------------------------------------------------------------------------------
 */

typedef struct items {
  const char *what; /* the part's name in the file */
  kr_json_value item[MAX_ITEMS], type[MAX_ITEMS];
  size_t n;
} items;

static int refuse(const items *list, size_t i, kr_error *err) {
  char room[64], shown[80];
  kr_text type = {"?", 1};
  if (kr_json_type_of(list->type[i]) == KR_JSON_STRING &&
      kr_json_string_size(list->type[i]) <= sizeof room)
    type = kr_json_string(list->type[i], room);
  return kr_fail(err, KR_E_UNSUPPORTED,
                 "%s: \"%s\" is not supported here, or not with these options", list->what,
                 kr_printable(shown, sizeof shown, type.data, type.n));
}

/* Appends a part; of a Sequence, its own parts, which may be sequences again. */
static int flatten(items *list, kr_json_value value, const char *members, int depth,
                   kr_error *err) {
  kr_json_type type = kr_json_type_of(value);
  if (type == KR_JSON_ABSENT || type == KR_JSON_NULL) return KR_OK;
  kr_json_value name = kr_json_member(value, "type");
  if (type != KR_JSON_OBJECT || kr_json_type_of(name) != KR_JSON_STRING)
    return kr_fail(err, KR_E_FORMAT, "%s: is no object with a type", list->what);
  if (!kr_json_equals(name, "Sequence")) {
    if (list->n == MAX_ITEMS)
      return kr_fail(err, KR_E_UNSUPPORTED, "%s: has more than %d steps", list->what, MAX_ITEMS);
    list->item[list->n] = value, list->type[list->n++] = name;
    return KR_OK;
  }
  kr_json_value sequence = kr_json_member(value, members), key, item;
  if (kr_json_type_of(sequence) != KR_JSON_ARRAY || depth == 4)
    return kr_fail(err, KR_E_FORMAT, "%s: %s of a Sequence is not an array", list->what, members);
  int code = KR_OK;
  for (kr_json_walk walk = kr_json_begin(sequence); !code && kr_json_next(&walk, &key, &item);)
    code = flatten(list, item, members, depth + 1, err);
  return code;
}

static bool is(const items *list, size_t i, const char *type) {
  return i < list->n && kr_json_equals(list->type[i], type);
}

static bool says(kr_json_value object, const char *name, const char *text) {
  return kr_json_equals(kr_json_member(object, name), text);
}

/* A bool member, or what it is by default. */
static bool flag(kr_json_value object, const char *name, bool absent) {
  kr_json_value value = kr_json_member(object, name);
  return kr_json_type_of(value) == KR_JSON_BOOL ? kr_json_true(value) : absent;
}

/* ---- the pre-tokenizer ------------------------------------------------------------------------
 */

#define ENDINGS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define TAIL    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER   "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER   "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define BEFORE  "[^\\r\\n\\p{L}\\p{N}]?"
#define OTHER   " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"

/* Regular expressions with line breaks as escapes, and the names of what they do (pretokenizer.c
 * has them in a shorter form). */
static const struct {
  const char *regex, *pre;
} known[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", "gpt-2"},
    {ENDINGS "|" BEFORE "\\p{L}+|\\p{N}|" OTHER "|" TAIL, "qwen2"},
    {ENDINGS "|" BEFORE "\\p{L}+|\\p{N}{1,3}|" OTHER "|" TAIL, "llama-bpe"},
    {ENDINGS "|" BEFORE "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" TAIL,
     "qwen35"},
    {BEFORE UPPER "*" LOWER "+|" BEFORE UPPER "+" LOWER
                  "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" TAIL,
     "tekken"},
    {BEFORE UPPER "*" LOWER "+" ENDINGS "?|" BEFORE UPPER "+" LOWER "*" ENDINGS
                  "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" TAIL,
     "gpt-4o"},
};

static const char *const deepseek[] = {
    "\\p{N}{1,3}",
    "[\xe4\xb8\x80-\xe9\xbe\xa5\xe3\x81\x80-\xe3\x82\x9f\xe3\x82\xa0-\xe3\x83\xbf]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?"
    "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" TAIL,
};

/* The regular expression of a Split, line breaks as escapes; "" where there is none or it is longer
 * than all known ones. */
static void regex_of(kr_json_value split, char out[1024]) {
  kr_json_value regex = kr_json_member(kr_json_member(split, "pattern"), "Regex");
  char room[512];
  size_t n = 0;
  out[0] = 0;
  if (kr_json_type_of(regex) != KR_JSON_STRING || kr_json_string_size(regex) > sizeof room) return;
  kr_text text = kr_json_string(regex, room);
  if (text.n > 500 || memchr(text.data, 0, text.n)) return;
  for (size_t i = 0; i < text.n; i++) {
    bool escape = text.data[i] == '\r' || text.data[i] == '\n';
    if (escape) out[n++] = '\\';
    out[n++] = !escape ? text.data[i] : text.data[i] == '\r' ? 'r' : 'n';
  }
  out[n] = 0;
}

static bool keeps_pieces(kr_json_value split) {
  bool invert = flag(split, "invert", false);
  return (says(split, "behavior", "Isolated") && !invert) ||
         (says(split, "behavior", "Removed") && invert);
}

static int refuse_regex(const char *regex, kr_error *err) {
  char shown[300];
  return kr_fail(err, KR_E_UNSUPPORTED,
                 "pre_tokenizer: the regular expression \"%s\" is none of those known here",
                 kr_printable(shown, sizeof shown, regex, strlen(regex)));
}

static int read_splits(const items *list, kr_pipeline *p, kr_error *err) {
  char regex[1024];
  size_t n = list->n - 1;
  for (size_t i = 0; i < n; i++)
    if (!is(list, i, "Split") || !keeps_pieces(list->item[i])) return refuse(list, i, err);
  for (size_t i = 0; i < n; i++) {
    regex_of(list->item[i], regex);
    if (n == 3 && says(list->item[i], "behavior", "Isolated") && !strcmp(regex, deepseek[i])) {
      p->pre = "deepseek-v3";
      continue;
    }
    p->pre = NULL;
    for (size_t k = 0; n == 1 && k < sizeof known / sizeof *known; k++)
      if (!strcmp(regex, known[k].regex)) p->pre = known[k].pre;
    if (!p->pre) return refuse_regex(regex, err);
  }
  return KR_OK;
}

static int read_byte_level(const items *list, kr_pipeline *p, kr_error *err) {
  kr_json_value last = list->item[list->n - 1];
  bool regex = flag(last, "use_regex", true);
  if (flag(last, "add_prefix_space", true)) return refuse(list, list->n - 1, err);
  if (list->n == 1 && regex) return p->pre = "gpt-2", KR_OK;
  if (list->n == 2 && regex && is(list, 0, "Digits"))
    return flag(list->item[0], "individual_digits", false) ? (p->pre = "smollm", KR_OK)
                                                           : refuse(list, 0, err);
  if (list->n == 1 || regex) return refuse(list, 0, err);
  return read_splits(list, p, err);
}

static int read_metaspace(const items *list, kr_pipeline *p, kr_error *err) {
  kr_json_value space = list->item[0], scheme = kr_json_member(space, "prepend_scheme");
  if (!says(space, "replacement", MARK)) return refuse(list, 0, err);
  p->metaspace = true;
  p->split_spaces = flag(space, "split", true);
  if (kr_json_equals(scheme, "first"))
    p->prefix = "first";
  else if (kr_json_equals(scheme, "always"))
    p->prefix = "always";
  else if (kr_json_equals(scheme, "never"))
    p->prefix = "none";
  else if (kr_json_type_of(scheme) == KR_JSON_ABSENT) /* files from before that member */
    p->prefix = flag(space, "add_prefix_space", true) ? "always" : "none";
  else
    return refuse(list, 0, err);
  return KR_OK;
}

static int read_pre_tokenizer(kr_json_value value, kr_pipeline *p, kr_error *err) {
  items list = {.what = "pre_tokenizer"};
  int code = flatten(&list, value, "pretokenizers", 0, err);
  if (code || !list.n) return code;
  if (is(&list, list.n - 1, "ByteLevel")) return read_byte_level(&list, p, err);
  if (is(&list, 0, "Metaspace") && list.n == 1) return read_metaspace(&list, p, err);
  /* Gemma's: it cuts at spaces, of which its normalizer leaves none */
  kr_json_value pattern = kr_json_member(list.item[0], "pattern");
  if (is(&list, 0, "Split") && list.n == 1 && says(pattern, "String", " ") &&
      says(list.item[0], "behavior", "MergedWithPrevious"))
    return KR_OK;
  return refuse(&list, list.n - 1, err);
}

/* ---- the other parts --------------------------------------------------------------------------
 */

static bool replaces(kr_json_value item, const char *from, const char *to) {
  return says(kr_json_member(item, "pattern"), "String", from) && says(item, "content", to);
}

static int read_normalizer(kr_json_value value, kr_pipeline *p, kr_error *err) {
  items list = {.what = "normalizer"};
  int code = flatten(&list, value, "normalizers", 0, err);
  if (code) return code;
  if (p->pre) {
    for (size_t i = 0; i < list.n; i++)
      if (!is(&list, i, "NFC")) return refuse(&list, i, err);
    p->nfc = list.n > 0;
    return KR_OK;
  }
  if (p->metaspace) return list.n ? refuse(&list, 0, err) : KR_OK;
  bool prepended = false, replaced = false; /* in any order: the result is the same */
  for (size_t i = 0; i < list.n; i++) {
    bool *done = is(&list, i, "Prepend") ? &prepended : &replaced;
    bool fits = done == &prepended ? says(list.item[i], "prepend", MARK)
                                   : is(&list, i, "Replace") && replaces(list.item[i], " ", MARK);
    if (!fits || *done) return refuse(&list, i, err);
    *done = true;
  }
  p->prefix = prepended ? "each" : "none";
  if (replaced) return KR_OK;
  return kr_fail(err, KR_E_UNSUPPORTED,
                 "normalizer and pre_tokenizer: neither bytes (ByteLevel) nor \"" MARK
                 "\" for spaces, which is all that is supported");
}

static int read_decoder(kr_json_value value, kr_pipeline *p, kr_error *err) {
  items list = {.what = "decoder"};
  int code = flatten(&list, value, "decoders", 0, err);
  if (code) return code;
  if (!list.n) return kr_fail(err, KR_E_UNSUPPORTED, "decoder: none is not supported");
  if (p->pre) {
    bool known_one = list.n == 1 && is(&list, 0, "ByteLevel");
    return known_one ? KR_OK : refuse(&list, list.n - 1, err);
  }
  if (!is(&list, 0, "Replace") || !replaces(list.item[0], MARK, " ")) return refuse(&list, 0, err);
  if (!is(&list, 1, "ByteFallback")) return refuse(&list, list.n > 1, err);
  if (!is(&list, 2, "Fuse")) return refuse(&list, list.n > 2 ? 2 : 1, err);
  if (list.n == 3) return KR_OK;
  int64_t start, stop;
  if (list.n > 4 || !is(&list, 3, "Strip") || !says(list.item[3], "content", " ") ||
      !kr_json_int(kr_json_member(list.item[3], "start"), 1, 1, &start) ||
      !kr_json_int(kr_json_member(list.item[3], "stop"), 0, 0, &stop))
    return refuse(&list, 3, err);
  p->strip = true;
  return KR_OK;
}

static int add_id(kr_json_value id, kr_json_value *ids, size_t *n, kr_error *err) {
  if (kr_json_type_of(id) != KR_JSON_NUMBER)
    return kr_fail(err, KR_E_FORMAT, "post_processor: the id of a special token is not a number");
  if (*n == 8)
    return kr_fail(err, KR_E_UNSUPPORTED, "post_processor: adds more than 8 tokens on one side");
  ids[(*n)++] = id;
  return KR_OK;
}

/* The ids that special_tokens lists for a name of the template. */
static int add_named(kr_json_value processor, kr_json_value name, bool after, kr_pipeline *p,
                     kr_error *err) {
  kr_json_value tokens = kr_json_member(processor, "special_tokens"), key, value;
  char room[256], shown[160];
  if (kr_json_type_of(name) != KR_JSON_STRING || kr_json_string_size(name) >= sizeof room)
    return kr_fail(err, KR_E_FORMAT, "post_processor: a special token of the template has no id");
  kr_text text = kr_json_string(name, room);
  char wanted[257];
  memcpy(wanted, text.data, text.n);
  wanted[text.n] = 0;
  kr_json_value ids = kr_json_member(kr_json_member(tokens, wanted), "ids");
  if (kr_json_type_of(ids) != KR_JSON_ARRAY)
    return kr_fail(err, KR_E_FORMAT, "post_processor: special_tokens does not list \"%s\"",
                   kr_printable(shown, sizeof shown, text.data, text.n));
  int code = KR_OK;
  for (kr_json_walk walk = kr_json_begin(ids); !code && kr_json_next(&walk, &key, &value);)
    code = after ? add_id(value, p->after, &p->n_after, err)
                 : add_id(value, p->before, &p->n_before, err);
  return code;
}

static int read_template(kr_json_value processor, kr_pipeline *p, kr_error *err) {
  kr_json_value single = kr_json_member(processor, "single"), key, piece;
  if (kr_json_type_of(single) != KR_JSON_ARRAY)
    return kr_fail(err, KR_E_FORMAT, "post_processor: single is not an array");
  int texts = 0, code = KR_OK;
  for (kr_json_walk walk = kr_json_begin(single); !code && kr_json_next(&walk, &key, &piece);) {
    kr_json_value special = kr_json_member(piece, "SpecialToken");
    if (special.at)
      code = add_named(processor, kr_json_member(special, "id"), texts > 0, p, err);
    else
      texts++;
  }
  if (!code && texts != 1)
    return kr_fail(err, KR_E_UNSUPPORTED,
                   "post_processor: the template has the text %d times, expected once", texts);
  return code;
}

/* ["</s>", 2] */
static int add_pair(kr_json_value pair, kr_json_value *ids, size_t *n, kr_error *err) {
  kr_json_value key, value = {NULL}, last = {NULL};
  if (kr_json_type_of(pair) == KR_JSON_ARRAY)
    for (kr_json_walk walk = kr_json_begin(pair); kr_json_next(&walk, &key, &value);) last = value;
  return add_id(last, ids, n, err);
}

static int read_post_processor(kr_json_value value, kr_pipeline *p, kr_error *err) {
  items list = {.what = "post_processor"};
  int code = flatten(&list, value, "processors", 0, err);
  bool found = false;
  for (size_t i = 0; !code && i < list.n; i++) {
    if (is(&list, i, "ByteLevel")) continue; /* moves offsets alone */
    bool pair = is(&list, i, "RobertaProcessing") || is(&list, i, "BertProcessing");
    if (found || (!pair && !is(&list, i, "TemplateProcessing"))) return refuse(&list, i, err);
    found = true;
    if (!pair) code = read_template(list.item[i], p, err);
    if (pair) code = add_pair(kr_json_member(list.item[i], "cls"), p->before, &p->n_before, err);
    if (pair && !code)
      code = add_pair(kr_json_member(list.item[i], "sep"), p->after, &p->n_after, err);
  }
  return code;
}

int kr_pipeline_read(const kr_json_value steps[KR_N_STEPS], kr_pipeline *ret_pipeline,
                     kr_error *err) {
  kr_pipeline *p = ret_pipeline;
  *p = (kr_pipeline){.prefix = "none"};
  int code = read_pre_tokenizer(steps[KR_PRE_TOKENIZER], p, err);
  if (!code) code = read_normalizer(steps[KR_NORMALIZER], p, err);
  if (!code) code = read_decoder(steps[KR_DECODER], p, err);
  return code ? code : read_post_processor(steps[KR_POST_PROCESSOR], p, err);
}
