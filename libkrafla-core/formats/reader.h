/* What the readers of model files share: the parts of a source, and how they are filled. */
#ifndef KR_FORMATS_READER_H
#define KR_FORMATS_READER_H

#include "formats/cursor.h"
#include "formats/names.h"

/* What one file says: values and tensors in its order, each with an index over their names.
 * Everything points into the file's bytes. */
typedef struct kr_directory {
  kr_value *values;
  size_t n_values;
  kr_names keys;
  kr_tensor *tensors;
  size_t n_tensors;
  kr_names names; /* of the tensors */
} kr_directory;

void kr_directory_clear(kr_directory *directory);
const kr_value *kr_directory_get(const kr_directory *directory, const char *key);
/* As kr_source_int; the message does not name the file. */
int kr_directory_int(const kr_directory *directory, const char *key, int64_t min, int64_t max,
                     int64_t *ret, kr_error *err);

typedef struct kr_file {
  char *path;
  kr_mapping mapping;
  bool borrowed; /* the bytes are not ours to unmap */
} kr_file;

void kr_file_close(kr_file *file);
/* Maps a file and reads what it says, by its content. Messages start with the path. */
int kr_file_read(const char *path, kr_file *ret_file, kr_directory *ret_directory, kr_error *err);

struct kr_source {
  kr_file *files; /* of a split model, in the order of its parts */
  size_t n_files;
  kr_directory directory;
};

/* An array that grows by doubling, so that memory follows what was really read and not a count
 * that a file claims. Returns the array, with room for one more than n, or NULL. */
void *kr_array_room(void *array, size_t n, size_t *room, size_t size) KR_CHECKED;

/* GGUF: the whole directory of a file that begins with its magic (gguf.c). */
int kr_gguf_read(const kr_mapping *file, kr_directory *ret_directory, kr_error *err);
/* The tensor entries at the cursor, and the tensor data behind them (gguf_tensors.c). */
int kr_gguf_tensors(kr_cursor *cursor, uint64_t alignment, kr_directory *directory);

/* The number of parts when the directory is that of a part of a split model, else 1. */
int kr_split_count(const kr_directory *directory, int64_t *ret_count, kr_error *err);
/* Opens the other parts of the split model of which file, with its directory, is one: both go to
 * the source, on failure too. count >= 2. Messages start with a path. */
int kr_split_gather(kr_source *source, kr_file *file, kr_directory *directory, int64_t count,
                    kr_error *err);

/* Fails for bytes that are no model, and says what they look like. */
int kr_fail_foreign(const kr_mapping *file, kr_error *err);

const char *kr_value_type_name(uint32_t type); /* NULL: no such type */

#endif
