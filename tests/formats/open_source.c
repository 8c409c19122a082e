/* open_source FILE: opens a model file, reads everything that a source gives out, and prints one
 * line about it; exit status 1, with the message on standard error, when it is refused.
 *
 * A tensor whose name ends in ".weight" but whose type holds no weights is refused here, as a model
 * refuses it when it binds its tensors: the container itself is then in order. */
#include "formats/source.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t total; /* of all bytes and values read, so that no read is left out */

static void read_bytes(const void *data, size_t n) {
  const uint8_t *bytes = data;
  for (size_t i = 0; i < n; i++) total = total * 31 + bytes[i];
}

/* The look-ups of a key, by every type. Failing is right for most; reading out of bounds is not. */
static void read_typed(const kr_source *source, const kr_value *value) {
  char *key = kr_strndup(value->key.data, value->key.n);
  if (!key) abort();
  int64_t i;
  double f;
  bool b;
  kr_text text;
  const kr_value *array;
  kr_error err;
  if (!kr_source_int(source, key, INT64_MIN, INT64_MAX, &i, &err)) total += 1;
  if (!kr_source_float(source, key, &f, &err)) total += 2;
  if (!kr_source_bool(source, key, &b, &err)) total += 3;
  if (!kr_source_string(source, key, &text, &err)) total += 4;
  if (!kr_source_array(source, key, UINT32_MAX, &array, &err)) total += 5;
  kr_free(key);
}

static void read_value(const kr_source *source, const kr_value *value) {
  read_bytes(value->key.data, value->key.n);
  read_bytes(value->data, value->bytes);
  read_typed(source, value);
  if (value->element == KR_VALUE_STRING) {
    size_t at = 0;
    kr_text text;
    while (kr_value_next(value, &at, &text)) read_bytes(text.data, text.n);
  } else if (value->element != KR_VALUE_ARRAY) {
    for (uint64_t i = 0; i < value->n; i++) {
      double f = kr_value_float(value, i);
      total += (uint64_t)kr_value_int(value, i);
      read_bytes(&f, sizeof f);
    }
  }
}

static int read_tensor(const char *path, const kr_tensor *tensor, kr_error *err) {
  const kr_type_info *type = kr_type_get(tensor->type);
  char name[128];
  kr_printable(name, sizeof name, tensor->name.data, tensor->name.n);
  read_bytes(tensor->name.data, tensor->name.n);
  read_bytes(tensor->data, tensor->bytes);
  if (!type->dequantize) {
    size_t n = strlen(name), tail = strlen(".weight");
    if (n > tail && !strcmp(name + n - tail, ".weight"))
      return kr_fail(err, KR_E_UNSUPPORTED,
                     "%s: tensor '%s' has the type %s, which holds no weights", path, name,
                     type->name);
    return KR_OK;
  }
  float values[256];
  for (size_t at = 0; at < tensor->bytes; at += (size_t)type->bytes) {
    type->dequantize(tensor->data + at, type->block, values);
    read_bytes(values, sizeof *values * (size_t)type->block);
  }
  return KR_OK;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: open_source FILE\n");
    return 2;
  }
  kr_error err = {0};
  kr_source *source;
  if (kr_source_open(argv[1], &source, &err)) {
    fprintf(stderr, "error: %s\n", err.message);
    return 1;
  }
  int code = 0;
  for (size_t i = 0; i < kr_source_n_values(source); i++)
    read_value(source, kr_source_value(source, i));
  for (size_t i = 0; i < kr_source_n_tensors(source) && !code; i++) {
    const kr_tensor *tensor = kr_source_tensor_at(source, i);
    code = read_tensor(argv[1], tensor, &err);
    kr_source_release(source, tensor);
  }
  if (code)
    fprintf(stderr, "error: %s\n", err.message);
  else
    printf("%zu keys, %zu tensors, check %016" PRIx64 "\n", kr_source_n_values(source),
           kr_source_n_tensors(source), total);
  kr_source_close(source);
  return code ? 1 : 0;
}
