/* Reads everything that a source gives out. */
#include "walk.h"
#include <stdlib.h>

static void read_bytes(uint64_t *hash, const void *data, size_t n) {
  const uint8_t *bytes = data;
  for (size_t i = 0; i < n; i++) *hash = *hash * 31 + bytes[i];
}

/* Failing is right for most of these; reading out of bounds is not. */
static void read_typed(uint64_t *hash, const kr_source *source, const kr_value *value) {
  char *key = kr_strndup(value->key.data, value->key.n);
  if (!key) abort();
  int64_t i;
  double f;
  bool b;
  kr_text text;
  const kr_value *array;
  kr_error err;
  if (!kr_source_int(source, key, INT64_MIN, INT64_MAX, &i, &err)) *hash += 1;
  if (!kr_source_float(source, key, &f, &err)) *hash += 2;
  if (!kr_source_bool(source, key, &b, &err)) *hash += 3;
  if (!kr_source_string(source, key, &text, &err)) *hash += 4;
  if (!kr_source_array(source, key, UINT32_MAX, &array, &err)) *hash += 5;
  kr_free(key);
}

static void read_value(uint64_t *hash, const kr_source *source, const kr_value *value) {
  read_bytes(hash, value->key.data, value->key.n);
  read_bytes(hash, value->data, value->bytes);
  read_typed(hash, source, value);
  if (value->element == KR_VALUE_STRING) {
    size_t at = 0;
    kr_text text;
    while (kr_value_next(value, &at, &text)) read_bytes(hash, text.data, text.n);
  } else if (value->element != KR_VALUE_ARRAY) {
    for (uint64_t i = 0; i < value->n; i++) {
      double f = kr_value_float(value, i);
      *hash += (uint64_t)kr_value_int(value, i);
      read_bytes(hash, &f, sizeof f);
    }
  }
}

uint64_t kr_walk_values(const kr_source *source) {
  uint64_t hash = 0;
  for (size_t i = 0; i < kr_source_n_values(source); i++)
    read_value(&hash, source, kr_source_value(source, i));
  return hash;
}

uint64_t kr_walk_tensor(const kr_tensor *tensor) {
  const kr_type_info *type = kr_type_get(tensor->type);
  uint64_t hash = tensor->type;
  read_bytes(&hash, tensor->name.data, tensor->name.n);
  read_bytes(&hash, tensor->dims, sizeof tensor->dims);
  read_bytes(&hash, tensor->data, tensor->bytes);
  float values[256]; /* the largest block */
  for (size_t at = 0; type->dequantize && at < tensor->bytes; at += (size_t)type->bytes) {
    type->dequantize(tensor->data + at, type->block, values);
    read_bytes(&hash, values, sizeof *values * (size_t)type->block);
  }
  return hash;
}
