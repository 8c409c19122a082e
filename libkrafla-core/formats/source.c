/* Model sources: opening by content, look-ups by name. */
#include "formats/reader.h"
#include <string.h>

#define LONG_PATH 200 /* bytes of a path that a message shows; of a longer one, its end */

int kr_fail_path(kr_error *err, int code, const char *path) {
  char shown[3 + LONG_PATH * 4 + 1] = "...";
  size_t n = strlen(path), tail = n < LONG_PATH ? n : LONG_PATH;
  do { /* bytes that are escaped take more room */
    while (tail < n && tail && ((unsigned char)path[n - tail] & 0xc0) == 0x80) tail--;
    kr_printable(shown + 3, sizeof shown - 3, path + n - tail, tail);
  } while (strlen(shown + 3) > LONG_PATH && (tail = tail * 3 / 4));
  const char *prefix = tail == n ? shown + 3 : shown;
  bool there = err && !strncmp(err->message, prefix, strlen(prefix));
  return there ? code : kr_fail_prefix(err, code, prefix);
}

void *kr_array_room(void *array, size_t n, size_t *room, size_t size) {
  if (n < *room) return array;
  size_t more = *room ? *room * 2 : 64;
  void *grown = more > *room ? kr_array_grow(array, more, size) : NULL;
  if (grown) *room = more;
  return grown;
}

void kr_directory_clear(kr_directory *directory) {
  kr_array_free(directory->values);
  kr_array_free(directory->tensors);
  kr_names_clear(&directory->keys);
  kr_names_clear(&directory->names);
  *directory = (kr_directory){0};
}

const kr_value *kr_directory_get(const kr_directory *directory, const char *key) {
  size_t i = kr_names_find(&directory->keys, directory->values, sizeof *directory->values, key,
                           strlen(key));
  return i == SIZE_MAX ? NULL : &directory->values[i];
}

void kr_file_close(kr_file *file) {
  if (!file->borrowed) kr_mapping_close(&file->mapping);
  kr_free(file->path);
  *file = (kr_file){0};
}

/* Which reader: decided by the bytes alone, whatever the file is called. */
static int read_content(const kr_mapping *mapping, kr_directory *ret_directory, kr_error *err) {
  if (mapping->size >= 4 && !memcmp(mapping->data, "GGUF", 4))
    return kr_gguf_read(mapping, ret_directory, err);
  return kr_fail_foreign(mapping, err);
}

static int read_file(kr_file *file, const char *path, kr_directory *ret_directory, kr_error *err) {
  file->path = kr_strdup(path);
  if (!file->path) return kr_fail_memory(err, "a path");
  int code = file->borrowed ? KR_OK : kr_mapping_open(path, &file->mapping, err);
  if (!code) code = read_content(&file->mapping, ret_directory, err);
  return code;
}

int kr_file_read(const char *path, kr_file *ret_file, kr_directory *ret_directory, kr_error *err) {
  kr_file file = {0};
  int code = read_file(&file, path, ret_directory, err);
  if (code) {
    kr_file_close(&file);
    return kr_fail_path(err, code, path);
  }
  *ret_file = file;
  return KR_OK;
}

/* Makes a source of a file that was read, with the other parts where it is one of several. The file
 * and the directory go to the source. */
static int assemble(kr_file *file, kr_directory *directory, kr_source **ret_source, kr_error *err) {
  int64_t count = 1;
  int code = kr_split_count(directory, &count, err);
  if (!code && count > 1 && file->borrowed)
    code = kr_fail(err, KR_E_UNSUPPORTED,
                   "is a part of a split model, which cannot be opened from "
                   "memory");
  kr_source *source = code ? NULL : kr_alloc(1, sizeof *source);
  if (!code && source) source->files = kr_alloc((size_t)count, sizeof *source->files);
  if (!code && (!source || !source->files)) code = kr_fail_memory(err, "the model source");
  if (code) {
    code = kr_fail_path(err, code, file->path);
    kr_file_close(file);
    kr_directory_clear(directory);
  } else if (count == 1) {
    source->files[0] = *file, source->n_files = 1;
    source->directory = *directory;
  } else {
    code = kr_split_gather(source, file, directory, count, err);
  }
  if (code) {
    kr_source_close(source);
    return code;
  }
  *ret_source = source;
  return KR_OK;
}

int kr_source_open(const char *path, kr_source **ret_source, kr_error *err) {
  kr_file file;
  kr_directory directory;
  int code = kr_file_read(path, &file, &directory, err);
  return code ? code : assemble(&file, &directory, ret_source, err);
}

int kr_source_open_bytes(const char *name, const uint8_t *data, size_t size, kr_source **ret_source,
                         kr_error *err) {
  kr_file file = {.mapping = {data, size}, .borrowed = true};
  kr_directory directory;
  int code = read_file(&file, name, &directory, err);
  if (!code) return assemble(&file, &directory, ret_source, err);
  kr_file_close(&file);
  return kr_fail_path(err, code, name);
}

void kr_source_close(kr_source *source) {
  if (!source) return;
  kr_directory_clear(&source->directory);
  for (size_t i = 0; i < source->n_files; i++) kr_file_close(&source->files[i]);
  kr_free(source->files);
  kr_free(source);
}

const char *kr_source_path(const kr_source *source) {
  return source->files[0].path;
}

const kr_value *kr_source_get(const kr_source *source, const char *key) {
  return kr_directory_get(&source->directory, key);
}

size_t kr_source_n_values(const kr_source *source) {
  return source->directory.n_values;
}

const kr_value *kr_source_value(const kr_source *source, size_t i) {
  return &source->directory.values[i];
}

const kr_tensor *kr_source_tensor(const kr_source *source, const char *name) {
  const kr_directory *directory = &source->directory;
  size_t i = kr_names_find(&directory->names, directory->tensors, sizeof *directory->tensors, name,
                           strlen(name));
  return i == SIZE_MAX ? NULL : &directory->tensors[i];
}

size_t kr_source_n_tensors(const kr_source *source) {
  return source->directory.n_tensors;
}

const kr_tensor *kr_source_tensor_at(const kr_source *source, size_t i) {
  return &source->directory.tensors[i];
}

/* Bytes that a caller lent may be memory of any kind, where giving pages back would lose them. */
void kr_source_release(const kr_source *source, const kr_tensor *tensor) {
  for (size_t i = 0; i < source->n_files; i++) {
    const kr_file *file = &source->files[i];
    uintptr_t start = (uintptr_t)file->mapping.data, at = (uintptr_t)tensor->data;
    if (at < start || at - start >= file->mapping.size) continue;
    if (!file->borrowed) kr_mapping_release(&file->mapping, tensor->data, tensor->bytes);
    return;
  }
}
