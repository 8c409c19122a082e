/* File layout: "GGUF", u32 version, u64 tensors, u64 keys; the keys (string, u32 type, value); the
 * tensors (string, u32 dimensions, u64 each, u32 type, u64 offset in the data); zeros up to a
 * multiple of the alignment; the data, each tensor's followed by zeros in the same way. A string is
 * a u64 length and its bytes. */
#include "gguf_write.h"
#include "base/half.h"
#include "base/size.h"
#include "formats/source.h"
#include "front_error.h"
#include "front_files.h"
#include "quant/types.h"
#include <string.h>

enum { ALIGNMENT = 32 };

struct kr_gguf_writer {
  GByteArray *keys, *tensors;
  guint64 n_keys;
  GArray *ends;    /* guint64: where each tensor's bytes end in the data, padding not counted */
  guint64 offset;  /* of the next tensor declared */
  guint64 written; /* bytes of data, padding included */
  guint current;   /* the tensor that is being written */
  char *bad;       /* the first tensor with an impossible shape */
  kr_front_file *file;
};

static void put_le(GByteArray *out, guint64 value, guint bytes) {
  for (guint i = 0; i < bytes; i++) {
    guint8 byte = (guint8)(value >> (8 * i));
    g_byte_array_append(out, &byte, 1);
  }
}

static void put_text(GByteArray *out, const char *text) {
  gsize n = strlen(text);
  put_le(out, n, 8);
  g_byte_array_append(out, (const guint8 *)text, (guint)n);
}

static GByteArray *put_key(kr_gguf_writer *writer, const char *key, kr_value_type type) {
  put_text(writer->keys, key);
  put_le(writer->keys, type, 4);
  writer->n_keys++;
  return writer->keys;
}

kr_gguf_writer *kr_gguf_writer_new(void) {
  kr_gguf_writer *writer = g_new0(kr_gguf_writer, 1);
  writer->keys = g_byte_array_new();
  writer->tensors = g_byte_array_new();
  writer->ends = g_array_new(FALSE, FALSE, sizeof(guint64));
  return writer;
}

void kr_gguf_writer_free(kr_gguf_writer *writer) {
  if (!writer) return;
  kr_front_file_abandon(writer->file);
  g_byte_array_unref(writer->keys);
  g_byte_array_unref(writer->tensors);
  g_array_unref(writer->ends);
  g_free(writer->bad);
  g_free(writer);
}

void kr_gguf_put_u32(kr_gguf_writer *writer, const char *key, guint32 value) {
  put_le(put_key(writer, key, KR_VALUE_U32), value, 4);
}

void kr_gguf_put_f32(kr_gguf_writer *writer, const char *key, float value) {
  put_le(put_key(writer, key, KR_VALUE_F32), kr_float_bits(value), 4);
}

void kr_gguf_put_bool(kr_gguf_writer *writer, const char *key, gboolean value) {
  put_le(put_key(writer, key, KR_VALUE_BOOL), value != FALSE, 1);
}

void kr_gguf_put_string(kr_gguf_writer *writer, const char *key, const char *value) {
  put_text(put_key(writer, key, KR_VALUE_STRING), value);
}

static GByteArray *put_array(kr_gguf_writer *writer, const char *key, kr_value_type element,
                             gsize n) {
  GByteArray *out = put_key(writer, key, KR_VALUE_ARRAY);
  put_le(out, element, 4);
  put_le(out, n, 8);
  return out;
}

void kr_gguf_put_strings(kr_gguf_writer *writer, const char *key, const char *const *values,
                         gsize n) {
  GByteArray *out = put_array(writer, key, KR_VALUE_STRING, n);
  for (gsize i = 0; i < n; i++) put_text(out, values[i]);
}

void kr_gguf_put_i32s(kr_gguf_writer *writer, const char *key, const gint32 *values, gsize n) {
  GByteArray *out = put_array(writer, key, KR_VALUE_I32, n);
  for (gsize i = 0; i < n; i++) put_le(out, (guint32)values[i], 4);
}

/* False for a shape that cannot be. */
static gboolean tensor_bytes(guint32 type, const gint64 *dims, guint32 n_dims, guint64 *ret) {
  const kr_type_info *info = kr_type_get(type);
  if (!info || n_dims < 1 || n_dims > 4) return FALSE;
  for (guint32 i = 0; i < n_dims; i++)
    if (dims[i] < 1) return FALSE;
  if (dims[0] % info->block) return FALSE;
  guint64 bytes = (guint64)(dims[0] / info->block);
  if (!kr_mul_u64(bytes, (guint64)info->bytes, &bytes)) return FALSE;
  for (guint32 i = 1; i < n_dims; i++)
    if (!kr_mul_u64(bytes, (guint64)dims[i], &bytes)) return FALSE;
  *ret = bytes;
  return TRUE;
}

void kr_gguf_put_tensor(kr_gguf_writer *writer, const char *name, guint32 type, const gint64 *dims,
                        guint32 n_dims) {
  guint64 bytes, end, next;
  if (!tensor_bytes(type, dims, n_dims, &bytes) || !kr_add_u64(writer->offset, bytes, &end) ||
      !kr_align_u64(end, ALIGNMENT, &next)) {
    if (!writer->bad) writer->bad = g_strdup(name);
    return;
  }
  put_text(writer->tensors, name);
  put_le(writer->tensors, n_dims, 4);
  for (guint32 i = 0; i < n_dims; i++) put_le(writer->tensors, (guint64)dims[i], 8);
  put_le(writer->tensors, type, 4);
  put_le(writer->tensors, writer->offset, 8);
  g_array_append_val(writer->ends, end);
  writer->offset = next;
}

static gboolean write_padding(kr_gguf_writer *writer, guint64 at, GError **error) {
  static const guint8 zeros[ALIGNMENT];
  gsize n = (gsize)(-at & (ALIGNMENT - 1));
  return kr_front_file_write(writer->file, zeros, n, error);
}

gboolean kr_gguf_write_header(kr_gguf_writer *writer, const char *path, GError **error) {
  if (writer->bad)
    return kr_front_fail(error, KR_EXIT_FAILED,
                         "%s: tensor '%s' has a shape that its type cannot have", path,
                         writer->bad);
  writer->file = kr_front_file_new(path, error);
  if (!writer->file) return FALSE;
  g_autoptr(GByteArray) head = g_byte_array_new();
  g_byte_array_append(head, (const guint8 *)"GGUF", 4);
  put_le(head, 3, 4);
  put_le(head, writer->ends->len, 8);
  put_le(head, writer->n_keys, 8);
  guint64 bytes = (guint64)head->len + writer->keys->len + writer->tensors->len;
  return kr_front_file_write(writer->file, head->data, head->len, error) &&
         kr_front_file_write(writer->file, writer->keys->data, writer->keys->len, error) &&
         kr_front_file_write(writer->file, writer->tensors->data, writer->tensors->len, error) &&
         write_padding(writer, bytes, error);
}

gboolean kr_gguf_write_data(kr_gguf_writer *writer, const void *bytes, gsize n, GError **error) {
  const guint8 *p = bytes;
  while (n > 0) {
    if (writer->current >= writer->ends->len)
      return kr_front_fail(error, KR_EXIT_FAILED, "more data than the declared tensors have");
    guint64 end = g_array_index(writer->ends, guint64, writer->current);
    gsize part = (gsize)MIN((guint64)n, end - writer->written);
    if (!kr_front_file_write(writer->file, p, part, error)) return FALSE;
    p += part, n -= part, writer->written += part;
    if (writer->written < end) continue;
    if (!write_padding(writer, end, error)) return FALSE;
    writer->written += -end & (ALIGNMENT - 1);
    writer->current++;
  }
  return TRUE;
}

gboolean kr_gguf_write_commit(kr_gguf_writer *writer, GError **error) {
  if (writer->current != writer->ends->len)
    return kr_front_fail(error, KR_EXIT_FAILED, "the data of %u of %u tensors was not written",
                         writer->ends->len - writer->current, writer->ends->len);
  kr_front_file *file = g_steal_pointer(&writer->file);
  return kr_front_file_commit(file, error);
}
