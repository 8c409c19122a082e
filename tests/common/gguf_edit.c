#include "gguf_edit.h"
#include <string.h>

enum { ALIGNMENT = 32 };

typedef struct key {
  char *name;
  GByteArray *bytes; /* type and value, as in the file */
} key;

typedef struct tensor {
  char *name;
  uint32_t type, n_dims;
  uint64_t dims[4];
  uint8_t *data;
  size_t bytes;
} tensor;

struct kr_edit {
  GArray *keys, *tensors;
};

static void put(GByteArray *out, uint64_t value, int bytes) { /* little-endian */
  for (int i = 0; i < bytes; i++) {
    uint8_t byte = (uint8_t)(value >> (8 * i));
    g_byte_array_append(out, &byte, 1);
  }
}

static void put_text(GByteArray *out, const char *text) {
  put(out, strlen(text), 8);
  g_byte_array_append(out, (const uint8_t *)text, (guint)strlen(text));
}

static void clear_key(gpointer data) {
  key *k = data;
  g_free(k->name);
  g_byte_array_unref(k->bytes);
}

static void clear_tensor(gpointer data) {
  tensor *t = data;
  g_free(t->name);
  g_free(t->data);
}

static void read_key(kr_edit *edit, const kr_value *value) {
  key k = {g_strndup(value->key.data, value->key.n), g_byte_array_new()};
  put(k.bytes, value->type, 4);
  if (value->type == KR_VALUE_ARRAY) put(k.bytes, value->element, 4);
  if (value->type == KR_VALUE_ARRAY || value->type == KR_VALUE_STRING) put(k.bytes, value->n, 8);
  g_byte_array_append(k.bytes, value->data, (guint)value->bytes);
  g_array_append_val(edit->keys, k);
}

static void read_tensor(kr_edit *edit, const kr_tensor *from) {
  tensor t = {g_strndup(from->name.data, from->name.n), from->type, (uint32_t)from->n_dims, {0},
              g_memdup2(from->data, from->bytes),       from->bytes};
  for (int i = 0; i < from->n_dims; i++) t.dims[i] = (uint64_t)from->dims[i];
  g_array_append_val(edit->tensors, t);
}

kr_edit *kr_edit_open(const char *path) {
  kr_edit *edit = g_new0(kr_edit, 1);
  edit->keys = g_array_new(FALSE, TRUE, sizeof(key));
  edit->tensors = g_array_new(FALSE, TRUE, sizeof(tensor));
  g_array_set_clear_func(edit->keys, clear_key);
  g_array_set_clear_func(edit->tensors, clear_tensor);
  kr_source *source;
  kr_error err;
  if (kr_source_open(path, &source, &err)) g_error("%s", err.message);
  for (size_t i = 0; i < kr_source_n_values(source); i++)
    read_key(edit, kr_source_value(source, i));
  for (size_t i = 0; i < kr_source_n_tensors(source); i++)
    read_tensor(edit, kr_source_tensor_at(source, i));
  kr_source_close(source);
  return edit;
}

void kr_edit_save(kr_edit *edit, const char *path) {
  g_autoptr(GByteArray) out = g_byte_array_new();
  g_byte_array_append(out, (const uint8_t *)"GGUF", 4);
  put(out, 3, 4);
  put(out, edit->tensors->len, 8);
  put(out, edit->keys->len, 8);
  for (guint i = 0; i < edit->keys->len; i++) {
    const key *k = &g_array_index(edit->keys, key, i);
    put_text(out, k->name);
    g_byte_array_append(out, k->bytes->data, k->bytes->len);
  }
  uint64_t offset = 0;
  for (guint i = 0; i < edit->tensors->len; i++) {
    const tensor *t = &g_array_index(edit->tensors, tensor, i);
    put_text(out, t->name);
    put(out, t->n_dims, 4);
    for (uint32_t d = 0; d < t->n_dims; d++) put(out, t->dims[d], 8);
    put(out, t->type, 4);
    put(out, offset, 8);
    offset += (t->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  for (guint i = 0; i < edit->tensors->len; i++) {
    const tensor *t = &g_array_index(edit->tensors, tensor, i);
    while (out->len % ALIGNMENT) put(out, 0, 1);
    g_byte_array_append(out, t->data, (guint)t->bytes);
  }
  while (out->len % ALIGNMENT) put(out, 0, 1);
  g_autoptr(GError) error = NULL;
  g_file_set_contents(path, (const char *)out->data, out->len, &error);
  g_assert_no_error(error);
  g_array_unref(edit->keys);
  g_array_unref(edit->tensors);
  g_free(edit);
}

void kr_edit_remove(kr_edit *edit, const char *name) {
  for (guint i = 0; i < edit->keys->len; i++)
    if (!strcmp(g_array_index(edit->keys, key, i).name, name)) {
      g_array_remove_index(edit->keys, i);
      return;
    }
}

/* The value's bytes, empty but for the type. */
static GByteArray *new_value(kr_edit *edit, const char *name, kr_value_type type) {
  kr_edit_remove(edit, name);
  key k = {g_strdup(name), g_byte_array_new()};
  put(k.bytes, type, 4);
  g_array_append_val(edit->keys, k);
  return k.bytes;
}

void kr_edit_u32(kr_edit *edit, const char *name, uint32_t value) {
  put(new_value(edit, name, KR_VALUE_U32), value, 4);
}

void kr_edit_f32(kr_edit *edit, const char *name, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  put(new_value(edit, name, KR_VALUE_F32), bits, 4);
}

void kr_edit_string(kr_edit *edit, const char *name, const char *value) {
  put_text(new_value(edit, name, KR_VALUE_STRING), value);
}

void kr_edit_u32s(kr_edit *edit, const char *name, const uint32_t *values, size_t n) {
  GByteArray *out = new_value(edit, name, KR_VALUE_ARRAY);
  put(out, KR_VALUE_U32, 4);
  put(out, n, 8);
  for (size_t i = 0; i < n; i++) put(out, values[i], 4);
}

static guint find_tensor(const kr_edit *edit, const char *name) {
  for (guint i = 0; i < edit->tensors->len; i++)
    if (!strcmp(g_array_index(edit->tensors, tensor, i).name, name)) return i;
  g_error("no tensor %s", name);
}

uint8_t *kr_edit_data(kr_edit *edit, const char *name) {
  return g_array_index(edit->tensors, tensor, find_tensor(edit, name)).data;
}

void kr_edit_remove_tensor(kr_edit *edit, const char *name) {
  g_array_remove_index(edit->tensors, find_tensor(edit, name));
}

void kr_edit_add_f32(kr_edit *edit, const char *name, uint64_t k, uint64_t rows, float value) {
  uint64_t n = k * (rows ? rows : 1);
  tensor t = {.name = g_strdup(name),
              .type = KR_TYPE_F32,
              .n_dims = rows ? 2 : 1,
              .dims = {k, rows},
              .bytes = n * 4};
  float *values = g_new(float, n);
  for (uint64_t i = 0; i < n; i++) values[i] = value;
  t.data = (uint8_t *)values;
  g_array_append_val(edit->tensors, t);
}

void kr_edit_widen(kr_edit *edit) {
  for (guint i = 0; i < edit->tensors->len; i++) {
    tensor *t = &g_array_index(edit->tensors, tensor, i);
    const kr_type_info *info = kr_type_get(t->type);
    uint64_t n = t->bytes / (size_t)info->bytes * (size_t)info->block;
    float *values = g_new(float, n);
    info->dequantize(t->data, (int64_t)n, values);
    g_free(t->data);
    t->data = (uint8_t *)values, t->bytes = n * 4, t->type = KR_TYPE_F32;
  }
}
