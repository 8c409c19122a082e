/* Hyper-parameters: metadata into numbers, every one in its range. */
#include "model/model.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 128 };

static void full_key(const kr_arch *arch, const char *name, char key[KEY_BYTES]) {
  snprintf(key, KEY_BYTES, "%s.%s", arch->name, name);
}

static int missing(const char *key, kr_error *err) {
  return kr_fail(err, KR_E_FORMAT, "key %s is missing", key);
}

/* An integer that may be given per layer. Files that really differ from layer to layer are not of
 * any family here. */
static int read_array(const kr_source *source, const char *key, const kr_arch_key *k,
                      const kr_hparams *hp, int64_t *ret, kr_error *err) {
  const uint32_t integers = 1u << KR_VALUE_U8 | 1u << KR_VALUE_I8 | 1u << KR_VALUE_U16 |
                            1u << KR_VALUE_I16 | 1u << KR_VALUE_U32 | 1u << KR_VALUE_I32 |
                            1u << KR_VALUE_U64 | 1u << KR_VALUE_I64;
  const kr_value *array;
  int code = kr_source_array(source, key, integers, &array, err);
  if (code) return code;
  if (array->n != (uint64_t)hp->n_layers)
    return kr_fail(err, KR_E_FORMAT, "%s has %llu values for %lld layers", key,
                   (unsigned long long)array->n, (long long)hp->n_layers);
  int64_t first = kr_value_int(array, 0);
  for (uint64_t i = 1; i < array->n; i++)
    if (kr_value_int(array, i) != first)
      return kr_fail(err, KR_E_UNSUPPORTED,
                     "%s differs from layer to layer (%lld, then %lld): not supported", key,
                     (long long)first, (long long)kr_value_int(array, i));
  if (first < (int64_t)k->min || first > (int64_t)k->max)
    return kr_fail(err, KR_E_FORMAT, "%s is %lld, not in %.0f..%.0f", key, (long long)first, k->min,
                   k->max);
  *ret = first;
  return KR_OK;
}

static int read_float(const kr_source *source, const char *key, const kr_arch_key *k, double *ret,
                      kr_error *err) {
  double value = *ret;
  int code = kr_source_float(source, key, &value, err);
  if (code) return code;
  if (!(value >= k->min && value <= k->max)) /* NaN too */
    return kr_fail(err, KR_E_FORMAT, "%s is %g, not in %g..%g", key, value, k->min, k->max);
  *ret = value;
  return KR_OK;
}

static int read_key(const kr_source *source, const kr_arch *arch, const kr_arch_key *k,
                    kr_hparams *hp, kr_error *err) {
  char key[KEY_BYTES];
  full_key(arch, k->name, key);
  const kr_value *value = kr_source_get(source, key);
  if (!value) return k->required ? missing(key, err) : KR_OK;
  void *field = (char *)hp + k->offset;
  if (k->kind == KR_KEY_FLOAT) return read_float(source, key, k, field, err);
  if (value->type == KR_VALUE_ARRAY) return read_array(source, key, k, hp, field, err);
  return kr_source_int(source, key, (int64_t)k->min, (int64_t)k->max, field, err);
}

/* Scaling of positions. Only what "rope.scaling.factor" alone says is linear. */
static int read_scaling(const kr_source *source, const kr_arch *arch, kr_hparams *hp,
                        kr_error *err) {
  char key[KEY_BYTES];
  kr_text type = {"linear", 6};
  full_key(arch, "rope.scaling.type", key);
  int code = kr_source_string(source, key, &type, err);
  if (code) return code;
  bool none = type.n == 4 && !memcmp(type.data, "none", 4);
  if (!none && !(type.n == 6 && !memcmp(type.data, "linear", 6)))
    return kr_fail(err, KR_E_UNSUPPORTED, "%s is '%.*s'; supported: none, linear", key,
                   (int)(type.n < 64 ? type.n : 64), type.data);
  if (none || hp->rope_factor == 0) hp->rope_factor = 1; /* 0 stands for "not scaled" */
  return KR_OK;
}

/* Relations between the numbers; shapes of tensors are checked where they are bound. */
static int check(const kr_arch *arch, const kr_hparams *hp, kr_error *err) {
  const char *a = arch->name;
  if (hp->n_heads % hp->n_kv_heads)
    return kr_fail(err, KR_E_FORMAT,
                   "%s.attention.head_count is %lld, no multiple of "
                   "%s.attention.head_count_kv %lld",
                   a, (long long)hp->n_heads, a, (long long)hp->n_kv_heads);
  if (hp->n_rot % 2)
    return kr_fail(err, KR_E_FORMAT, "%s.rope.dimension_count is %lld, not even", a,
                   (long long)hp->n_rot);
  if (hp->n_rot > hp->head_dim)
    return kr_fail(err, KR_E_FORMAT,
                   "%s.rope.dimension_count is %lld, more than the %lld values of a head "
                   "(%s.attention.head_count %lld)",
                   a, (long long)hp->n_rot, (long long)hp->head_dim, a, (long long)hp->n_heads);
  if ((double)hp->n_ctx / hp->rope_factor > 0x1p30) /* see kr_real_sin_cos */
    return kr_fail(err, KR_E_FORMAT, "%s.rope.scaling.factor is %g: angles grow too large", a,
                   hp->rope_factor);
  if (hp->n_experts)
    return kr_fail(err, KR_E_UNSUPPORTED,
                   "%s.expert_count is %lld: mixtures of experts are not supported", a,
                   (long long)hp->n_experts);
  return KR_OK;
}

/* Values that follow from others where the file does not give them. */
static int derive(const kr_arch *arch, kr_hparams *hp, kr_error *err) {
  if (!hp->n_kv_heads) hp->n_kv_heads = hp->n_heads;
  if (!hp->head_dim && hp->dim % hp->n_heads)
    return kr_fail(err, KR_E_FORMAT,
                   "%s.embedding_length is %lld, no multiple of %s.attention.head_count %lld",
                   arch->name, (long long)hp->dim, arch->name, (long long)hp->n_heads);
  if (!hp->head_dim) hp->head_dim = hp->dim / hp->n_heads;
  if (!hp->value_dim) hp->value_dim = hp->head_dim;
  if (!hp->n_rot) hp->n_rot = hp->head_dim;
  return KR_OK;
}

static int find_arch(const kr_source *source, const kr_arch **ret_arch, kr_error *err) {
  kr_text name = {NULL, 0};
  int code = kr_source_string(source, "general.architecture", &name, err);
  if (code) return code;
  if (!name.data) return missing("general.architecture", err);
  const kr_arch *arch = kr_arch_find(name.data, name.n);
  if (!arch)
    return kr_fail(err, KR_E_UNSUPPORTED,
                   "general.architecture is '%.*s', which is not supported (%s)",
                   (int)(name.n < 64 ? name.n : 64), name.data, kr_arch_names());
  *ret_arch = arch;
  return KR_OK;
}

int kr_hparams_read(const kr_source *source, const kr_arch **ret_arch, kr_hparams *ret_hp,
                    kr_error *err) {
  const kr_arch *arch = NULL;
  kr_hparams hp = {.rope_base = 10000, .rope_factor = 1};
  int code = find_arch(source, &arch, err);
  for (size_t i = 0; !code && i < arch->n_keys; i++)
    code = read_key(source, arch, &arch->keys[i], &hp, err);
  if (!code) code = read_scaling(source, arch, &hp, err);
  if (!code) code = derive(arch, &hp, err);
  if (!code) code = check(arch, &hp, err);
  if (code) return code;
  *ret_arch = arch, *ret_hp = hp;
  return KR_OK;
}
