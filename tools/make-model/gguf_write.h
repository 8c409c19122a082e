/* Writes GGUF files, version 3, little-endian, alignment 32.
 *
 * Keys and tensors are declared first, in the order in which they are to stand; then the header is
 * written, then the data of the tensors in the same order, in pieces of any size. The file has its
 * name only once it is whole (kr_front_file). */
#ifndef KR_GGUF_WRITE_H
#define KR_GGUF_WRITE_H

#include <glib.h>

typedef struct kr_gguf_writer kr_gguf_writer;

kr_gguf_writer *kr_gguf_writer_new(void);
/* Drops an unfinished file. NULL is allowed. */
void kr_gguf_writer_free(kr_gguf_writer *writer);

void kr_gguf_put_u32(kr_gguf_writer *writer, const char *key, guint32 value);
void kr_gguf_put_f32(kr_gguf_writer *writer, const char *key, float value);
void kr_gguf_put_bool(kr_gguf_writer *writer, const char *key, gboolean value);
void kr_gguf_put_string(kr_gguf_writer *writer, const char *key, const char *value);
void kr_gguf_put_strings(kr_gguf_writer *writer, const char *key, const char *const *values,
                         gsize n);
void kr_gguf_put_i32s(kr_gguf_writer *writer, const char *key, const gint32 *values, gsize n);

/* type is a kr_type, dims are positive, innermost first, n_dims 1 to 4. A shape that the type
 * cannot have, or that overflows, is reported by kr_gguf_write_header. */
void kr_gguf_put_tensor(kr_gguf_writer *writer, const char *name, guint32 type, const gint64 *dims,
                        guint32 n_dims);

gboolean kr_gguf_write_header(kr_gguf_writer *writer, const char *path, GError **error);
/* The next n bytes of tensor data; padding between tensors is the writer's work. */
gboolean kr_gguf_write_data(kr_gguf_writer *writer, const void *bytes, gsize n, GError **error);
/* Fails unless exactly the declared data was written. */
gboolean kr_gguf_write_commit(kr_gguf_writer *writer, GError **error);

#endif
