/* The head is built by the core; here the data follows it into the file. */
#include "gguf_write.h"
#include "formats/gguf_build.h"
#include "front_error.h"
#include "front_files.h"
#include <string.h>

struct kr_gguf_writer {
  kr_gguf_build build;
  GArray *ends;    /* guint64: where each tensor's bytes end in the data, padding not counted */
  guint64 written; /* bytes of data, padding included */
  guint current;   /* the tensor that is being written */
  kr_front_file *file;
};

kr_gguf_writer *kr_gguf_writer_new(void) {
  kr_gguf_writer *writer = g_new0(kr_gguf_writer, 1);
  writer->ends = g_array_new(FALSE, FALSE, sizeof(guint64));
  return writer;
}

void kr_gguf_writer_free(kr_gguf_writer *writer) {
  if (!writer) return;
  kr_front_file_abandon(writer->file);
  kr_gguf_build_clear(&writer->build);
  g_array_unref(writer->ends);
  g_free(writer);
}

void kr_gguf_put_u32(kr_gguf_writer *writer, const char *key, guint32 value) {
  kr_gguf_build_u32(&writer->build, key, value);
}

void kr_gguf_put_f32(kr_gguf_writer *writer, const char *key, float value) {
  kr_gguf_build_f32(&writer->build, key, value);
}

void kr_gguf_put_bool(kr_gguf_writer *writer, const char *key, gboolean value) {
  kr_gguf_build_bool(&writer->build, key, value != FALSE);
}

void kr_gguf_put_string(kr_gguf_writer *writer, const char *key, const char *value) {
  kr_gguf_build_string(&writer->build, key, (kr_text){value, strlen(value)});
}

void kr_gguf_put_strings(kr_gguf_writer *writer, const char *key, const char *const *values,
                         gsize n) {
  kr_gguf_build_array(&writer->build, key, KR_VALUE_STRING, n);
  for (gsize i = 0; i < n; i++)
    kr_gguf_build_text(&writer->build, (kr_text){values[i], strlen(values[i])});
}

void kr_gguf_put_i32s(kr_gguf_writer *writer, const char *key, const gint32 *values, gsize n) {
  kr_gguf_build_array(&writer->build, key, KR_VALUE_I32, n);
  for (gsize i = 0; i < n; i++) kr_gguf_build_le(&writer->build, (guint32)values[i], 4);
}

void kr_gguf_put_tensor(kr_gguf_writer *writer, const char *name, guint32 type, const gint64 *dims,
                        guint32 n_dims) {
  guint64 end;
  kr_gguf_build_tensor(&writer->build, name, type, dims, n_dims, NULL, &end);
  g_array_append_val(writer->ends, end);
}

static gboolean write_padding(kr_gguf_writer *writer, guint64 at, GError **error) {
  static const guint8 zeros[KR_GGUF_ALIGNMENT];
  gsize n = (gsize)(-at & (KR_GGUF_ALIGNMENT - 1));
  return kr_front_file_write(writer->file, zeros, n, error);
}

gboolean kr_gguf_write_header(kr_gguf_writer *writer, const char *path, GError **error) {
  const guint8 *head;
  gsize n;
  kr_error err;
  if (kr_gguf_build_end(&writer->build, &head, &n, &err) != KR_OK)
    return kr_front_fail(error, KR_EXIT_FAILED, "%s: %s", path, err.message);
  writer->file = kr_front_file_new(path, error);
  return writer->file && kr_front_file_write(writer->file, head, n, error);
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
    writer->written += -end & (KR_GGUF_ALIGNMENT - 1);
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
