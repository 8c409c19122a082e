/* The keys of our own in tokenizer files: what a tokenizer.json says and GGUF has no keys for. */
#include "text/vocab_parts.h"
#include <string.h>

#define KEY     "krafla.tokenizer."
#define VERSION 1

int kr_vocab_own(const kr_source *source, bool *ret_own, kr_error *err) {
  int64_t version = 0;
  int code = kr_source_int(source, KEY "version", 1, INT64_MAX, &version, err);
  if (code) return code;
  if (version > VERSION)
    return kr_fail(err, KR_E_UNSUPPORTED,
                   "key '" KEY "version' is %lld, newer than the %d that this version reads",
                   (long long)version, VERSION);
  *ret_own = version > 0;
  return KR_OK;
}

int kr_vocab_read_prefix(const kr_source *source, kr_vocab *v, kr_error *err) {
  static const char *const names[] = {"none", "each", "first", "always"};
  kr_text name = {NULL, 0};
  int code = kr_source_string(source, KEY "prefix", &name, err);
  if (code || !name.data) return code;
  for (int i = 0; i < 4; i++)
    if (name.n == strlen(names[i]) && !memcmp(name.data, names[i], name.n))
      return v->prefix = (kr_prefix)i, KR_OK;
  char shown[80];
  return kr_fail(err, KR_E_UNSUPPORTED,
                 KEY "prefix: \"%s\" is neither none, each, first nor always",
                 kr_printable(shown, sizeof shown, name.data, name.n));
}

static int read_ids(const kr_source *source, const kr_vocab *v, const char *key, kr_ids *ids,
                    kr_error *err) {
  const kr_value *value;
  int code = kr_source_array(source, key, 1 << KR_VALUE_I32, &value, err);
  for (uint64_t i = 0; !code && value && i < value->n; i++) {
    int64_t id = kr_value_int(value, i);
    if (id < 0 || id >= v->tokens.n)
      return kr_fail(err, KR_E_FORMAT, "%s[%llu]: %lld is no token of %ld", key,
                     (unsigned long long)i, (long long)id, (long)v->tokens.n);
    if (!kr_ids_add(ids, (int32_t)id)) return kr_fail_memory(err, "tokens");
  }
  return code;
}

int kr_vocab_read_own(const kr_source *source, kr_vocab *v, kr_error *err) {
  int code = kr_vocab_read_prefix(source, v, err);
  v->add_bos = v->add_eos = false; /* before and after have them */
  v->strip = false;
  if (!code) code = kr_source_bool(source, KEY "nfc", &v->nfc, err);
  if (!code) code = kr_source_bool(source, KEY "ignore_merges", &v->ignore_merges, err);
  if (!code) code = kr_source_bool(source, KEY "metaspace", &v->metaspace, err);
  if (!code) code = kr_source_bool(source, KEY "split_spaces", &v->split_spaces, err);
  if (!code) code = kr_source_bool(source, KEY "keep_unknown", &v->keep_unknown, err);
  if (!code) code = kr_source_bool(source, KEY "strip", &v->strip, err);
  if (!code) code = read_ids(source, v, KEY "before", &v->before, err);
  if (!code) code = read_ids(source, v, KEY "after", &v->after, err);
  if (!code) code = kr_special_read_added(source, &v->tokens, false, NULL, &v->special, err);
  if (code) return code;
  bool marks = v->kind == KR_VOCAB_SPM && !v->metaspace;
  const char *before = !marks ? NULL : v->prefix == KR_PREFIX_EACH ? "\xe2\x96\x81" : "";
  return kr_special_read_added(source, &v->tokens, true, before, &v->normalized, err);
}
