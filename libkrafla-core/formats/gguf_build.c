/* File layout: see gguf.c. */
#include "formats/gguf_build.h"
#include "base/half.h"
#include "base/size.h"
#include <string.h>

#define HEADER 24

/* Room for n more bytes, at the returned place; NULL when memory is gone. */
static uint8_t *more(kr_gguf_build *build, kr_gguf_blob *blob, size_t n) {
  size_t need;
  if (build->failed) return NULL;
  if (!kr_add_size(blob->n, n, &need)) return build->failed = true, NULL;
  if (need > blob->room) {
    size_t room = need > blob->room * 2 ? need + 64 : blob->room * 2;
    uint8_t *data = kr_array_grow(blob->data, room, 1);
    if (!data) return build->failed = true, NULL;
    blob->data = data, blob->room = room;
  }
  uint8_t *at = blob->data + blob->n;
  blob->n = need;
  return at;
}

static void put(kr_gguf_build *build, kr_gguf_blob *blob, const void *data, size_t n) {
  uint8_t *at = more(build, blob, n);
  if (at && n) memcpy(at, data, n);
}

static inline void store(uint8_t *at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static void put_le(kr_gguf_build *build, kr_gguf_blob *blob, uint64_t value, int bytes) {
  uint8_t *at = more(build, blob, (size_t)bytes);
  if (at) store(at, value, bytes);
}

static void put_text(kr_gguf_build *build, kr_gguf_blob *blob, const char *text, size_t n) {
  put_le(build, blob, n, 8);
  put(build, blob, text, n);
}

static void put_key(kr_gguf_build *build, const char *key, size_t n, uint32_t type) {
  static const uint8_t header[HEADER];
  if (!build->head.n) put(build, &build->head, header, HEADER);
  put_text(build, &build->head, key, n);
  put_le(build, &build->head, type, 4);
  build->n_keys++;
}

void kr_gguf_build_clear(kr_gguf_build *build) {
  kr_array_free(build->head.data);
  kr_array_free(build->tensors.data);
  kr_free(build->bad);
  *build = (kr_gguf_build){0};
}

void kr_gguf_build_u32(kr_gguf_build *build, const char *key, uint32_t value) {
  put_key(build, key, strlen(key), KR_VALUE_U32);
  kr_gguf_build_le(build, value, 4);
}

void kr_gguf_build_f32(kr_gguf_build *build, const char *key, float value) {
  put_key(build, key, strlen(key), KR_VALUE_F32);
  kr_gguf_build_le(build, kr_float_bits(value), 4);
}

void kr_gguf_build_bool(kr_gguf_build *build, const char *key, bool value) {
  put_key(build, key, strlen(key), KR_VALUE_BOOL);
  kr_gguf_build_le(build, value, 1);
}

void kr_gguf_build_string(kr_gguf_build *build, const char *key, kr_text value) {
  put_key(build, key, strlen(key), KR_VALUE_STRING);
  kr_gguf_build_text(build, value);
}

void kr_gguf_build_copy(kr_gguf_build *build, const kr_value *value) {
  put_key(build, value->key.data, value->key.n, value->type);
  if (value->type == KR_VALUE_STRING) put_le(build, &build->head, value->n, 8);
  if (value->type == KR_VALUE_ARRAY) {
    put_le(build, &build->head, value->element, 4);
    put_le(build, &build->head, value->n, 8);
  }
  put(build, &build->head, value->data, value->bytes);
}

void kr_gguf_build_array(kr_gguf_build *build, const char *key, uint32_t element, uint64_t n) {
  put_key(build, key, strlen(key), KR_VALUE_ARRAY);
  kr_gguf_build_le(build, element, 4);
  kr_gguf_build_le(build, n, 8);
}

void kr_gguf_build_le(kr_gguf_build *build, uint64_t value, int bytes) {
  put_le(build, &build->head, value, bytes);
}

void kr_gguf_build_text(kr_gguf_build *build, kr_text text) {
  put_text(build, &build->head, text.data, text.n);
}

void kr_gguf_build_pair(kr_gguf_build *build, kr_text left, kr_text right) {
  put_le(build, &build->head, (uint64_t)left.n + right.n + 1, 8);
  put(build, &build->head, left.data, left.n);
  put(build, &build->head, " ", 1);
  put(build, &build->head, right.data, right.n);
}

/* False for a shape that cannot be. */
static bool tensor_bytes(uint32_t type, const int64_t *dims, uint32_t n_dims, uint64_t *ret) {
  const kr_type_info *info = kr_type_get(type);
  if (!info || n_dims < 1 || n_dims > 4) return false;
  for (uint32_t i = 0; i < n_dims; i++)
    if (dims[i] < 1) return false;
  if (dims[0] % info->block) return false;
  uint64_t bytes = (uint64_t)(dims[0] / info->block);
  if (!kr_mul_u64(bytes, (uint64_t)info->bytes, &bytes)) return false;
  for (uint32_t i = 1; i < n_dims; i++)
    if (!kr_mul_u64(bytes, (uint64_t)dims[i], &bytes)) return false;
  *ret = bytes;
  return true;
}

void kr_gguf_build_tensor(kr_gguf_build *build, const char *name, uint32_t type,
                          const int64_t *dims, uint32_t n_dims, uint64_t *ret_at,
                          uint64_t *ret_end) {
  uint64_t bytes, end, next;
  if (!tensor_bytes(type, dims, n_dims, &bytes) || !kr_add_u64(build->data, bytes, &end) ||
      !kr_align_u64(end, KR_GGUF_ALIGNMENT, &next)) {
    if (!build->bad) build->bad = kr_strdup(name);
    if (!build->bad) build->failed = true;
    end = next = build->data;
  }
  kr_gguf_blob *blob = &build->tensors;
  put_text(build, blob, name, strlen(name));
  put_le(build, blob, n_dims, 4);
  for (uint32_t i = 0; i < n_dims && i < 4; i++) put_le(build, blob, (uint64_t)dims[i], 8);
  put_le(build, blob, type, 4);
  put_le(build, blob, build->data, 8);
  build->n_tensors++;
  if (ret_at) *ret_at = build->data;
  if (ret_end) *ret_end = end;
  build->data = next;
}

int kr_gguf_build_end(kr_gguf_build *build, const uint8_t **ret_data, size_t *ret_n,
                      kr_error *err) {
  if (build->bad)
    return kr_fail(err, KR_E_ARGUMENT, "tensor '%s' has a shape that its type cannot have",
                   build->bad);
  kr_gguf_blob *head = &build->head;
  if (!head->n) (void)more(build, head, HEADER);
  put(build, head, build->tensors.data, build->tensors.n);
  size_t pad = (size_t)(-(uint64_t)head->n & (KR_GGUF_ALIGNMENT - 1));
  uint8_t *zeros = more(build, head, pad);
  if (!zeros) return kr_fail_memory(err, "the head of a GGUF file");
  memset(zeros, 0, pad);
  memcpy(head->data, "GGUF", 4);
  store(head->data + 4, 3, 4);
  store(head->data + 8, build->n_tensors, 8);
  store(head->data + 16, build->n_keys, 8);
  *ret_data = head->data, *ret_n = head->n;
  return KR_OK;
}
