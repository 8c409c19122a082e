/* Models split over several GGUF files.
 *
 * Part i of n (from 1) is called "<stem>-<i as five digits>-of-<n as five digits>.gguf" and says
 * so in its metadata: split.no = i - 1, split.count = n, split.tensors.count = tensors of all
 * parts. The first part holds the model's metadata; each has the entries of its own tensors, maybe
 * none. A merged file keeps split.count as 0, which is no split. */
#include "base/system.h"
#include "formats/reader.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_PARTS   65535              /* split.count is a u16 */
#define MAX_TENSORS ((int64_t)1 << 20) /* of all parts together */
#define TAIL        "-00001-of-00001.gguf"

int kr_split_count(const kr_directory *directory, int64_t *ret_count, kr_error *err) {
  int64_t count = 1;
  int code = kr_directory_int(directory, "split.count", 0, MAX_PARTS, &count, err);
  if (!code) *ret_count = count > 1 ? count : 1;
  return code;
}

typedef struct split {
  char *name;  /* path of a part; its last bytes are rewritten for each */
  size_t stem; /* bytes before the tail */
  int64_t count;
  int64_t n_tensors; /* that all parts must have together; -1: no part says */
} split;

static const char *part_path(const split *s, int64_t no) {
  (void)snprintf(s->name + s->stem, sizeof TAIL, "-%05u-of-%05u.gguf", (unsigned)(no + 1) % 100000,
                 (unsigned)s->count % 100000);
  return s->name;
}

static const char *part_file(const split *s, int64_t no) {
  return kr_path_name(part_path(s, no));
}

/* What a part says of itself must agree with its place among the others. */
static int check_part(split *s, int64_t no, const kr_directory *directory, kr_error *err) {
  int64_t own_no = -1, own_count = -1, n_tensors = s->n_tensors;
  int code = kr_directory_int(directory, "split.no", 0, MAX_PARTS, &own_no, err);
  if (!code) code = kr_directory_int(directory, "split.count", 0, MAX_PARTS, &own_count, err);
  if (!code)
    code = kr_directory_int(directory, "split.tensors.count", 0, MAX_TENSORS, &n_tensors, err);
  if (code) return code;
  if (own_no < 0 || own_count < 0)
    return kr_fail(err, KR_E_FORMAT, "key '%s' is missing, which every part of a split model has",
                   own_no < 0 ? "split.no" : "split.count");
  if (own_no != no)
    return kr_fail(err, KR_E_FORMAT,
                   "key 'split.no' is %" PRId64 ", but by its name the file is part %" PRId64
                   " of %" PRId64 ", split.no %" PRId64,
                   own_no, no + 1, s->count, no);
  if (own_count != s->count)
    return kr_fail(err, KR_E_FORMAT,
                   "key 'split.count' is %" PRId64 ", in another part of the model %" PRId64,
                   own_count, s->count);
  if (s->n_tensors < 0) s->n_tensors = n_tensors;
  if (n_tensors != s->n_tensors)
    return kr_fail(err, KR_E_FORMAT,
                   "key 'split.tensors.count' is %" PRId64
                   ", in another part of the model %" PRId64,
                   n_tensors, s->n_tensors);
  return KR_OK;
}

/* Moves what a part says to the whole. The first part's metadata is the model's. */
static int append(kr_directory *whole, kr_directory *part, bool first, kr_error *err) {
  size_t n = whole->n_tensors + part->n_tensors;
  if (n > (size_t)MAX_TENSORS)
    return kr_fail(err, KR_E_FORMAT, "the parts have more than %" PRId64 " tensors", MAX_TENSORS);
  if (part->n_tensors) {
    kr_tensor *tensors = kr_array_grow(whole->tensors, n, sizeof *tensors);
    if (!tensors) return kr_fail_memory(err, "the tensor entries");
    memcpy(tensors + whole->n_tensors, part->tensors, part->n_tensors * sizeof *tensors);
    whole->tensors = tensors, whole->n_tensors = n;
  }
  if (first) {
    whole->values = part->values, whole->n_values = part->n_values, whole->keys = part->keys;
    part->values = NULL, part->n_values = 0, part->keys = (kr_names){0};
  }
  return KR_OK;
}

/* Finds the stem of the parts' names from the name of the one that was opened. */
static int read_name(split *s, int64_t no, const char *path, kr_error *err) {
  size_t n = strlen(path);
  s->name = kr_strdup(path);
  if (!s->name) return kr_fail_memory(err, "a path");
  s->stem = n < strlen(TAIL) ? 0 : n - strlen(TAIL);
  if (n >= strlen(TAIL) && !strcmp(part_path(s, no), path)) return KR_OK;
  char tail[sizeof TAIL];
  split shown = {.name = tail, .count = s->count};
  return kr_fail(err, KR_E_FORMAT,
                 "is part %" PRId64 " of %" PRId64 " of a split model (split.no %" PRId64
                 "), but its name does not end in '%s', so the other parts cannot be found",
                 no + 1, s->count, no, part_path(&shown, no));
}

/* Looks for all parts before any is opened, so that a message counts all that are missing. */
static int find_parts(const split *s, kr_error *err) {
  int64_t missing = 0, first = 0;
  for (int64_t no = 0; no < s->count; no++)
    if (!kr_path_exists(part_path(s, no)) && !missing++) first = no;
  if (!missing) return KR_OK;
  if (missing == 1)
    return kr_fail(err, KR_E_IO,
                   "part %" PRId64 " of %" PRId64 " of the split model is missing: '%s'", first + 1,
                   s->count, part_file(s, first));
  return kr_fail(err, KR_E_IO,
                 "%" PRId64 " of the %" PRId64
                 " parts of the split model are missing, the first is '%s'",
                 missing, s->count, part_file(s, first));
}

/* The number, from 1, of the part that holds a tensor. */
static size_t part_of(const kr_source *source, size_t tensor) {
  uintptr_t at = (uintptr_t)source->directory.tensors[tensor].data;
  size_t i = 0;
  while (i + 1 < source->n_files &&
         at - (uintptr_t)source->files[i].mapping.data >= source->files[i].mapping.size)
    i++;
  return i + 1;
}

/* The tensors of all parts, against their count and each other. */
static int check_whole(const split *s, kr_source *source, kr_error *err) {
  kr_directory *whole = &source->directory;
  if (s->n_tensors >= 0 && (int64_t)whole->n_tensors != s->n_tensors)
    return kr_fail(err, KR_E_FORMAT,
                   "key 'split.tensors.count' is %" PRId64 ", but the %" PRId64
                   " parts have %zu tensors",
                   s->n_tensors, s->count, whole->n_tensors);
  size_t twins[2];
  char shown[KR_SHOWN];
  int code = kr_names_build(whole->tensors, sizeof *whole->tensors, whole->n_tensors, &whole->names,
                            twins);
  if (code == KR_E_MEMORY) return kr_fail_memory(err, "the index of the tensors");
  if (code)
    return kr_fail(err, code, "duplicate tensor name '%s': in parts %zu and %zu of the split model",
                   kr_shown(whole->tensors[twins[1]].name, shown), part_of(source, twins[0]),
                   part_of(source, twins[1]));
  return KR_OK;
}

/* Opens part no, or takes the one that is open already, and adds it to the source. */
static int add_part(kr_source *source, split *s, int64_t no, kr_file *file, kr_directory *directory,
                    kr_error *err) {
  const char *path = part_path(s, no);
  int code = file->path ? KR_OK : kr_file_read(path, file, directory, err);
  if (code) return code;
  code = check_part(s, no, directory, err);
  if (!code) code = append(&source->directory, directory, no == 0, err);
  kr_directory_clear(directory);
  source->files[source->n_files++] = *file;
  *file = (kr_file){0};
  return code ? kr_fail_path(err, code, path) : KR_OK;
}

int kr_split_gather(kr_source *source, kr_file *file, kr_directory *directory, int64_t count,
                    kr_error *err) {
  split s = {.count = count, .n_tensors = -1};
  int64_t own = -1;
  int code = kr_directory_int(directory, "split.no", 0, count - 1, &own, err);
  if (!code && own < 0)
    code = kr_fail(err, KR_E_FORMAT, "key 'split.count' is %" PRId64 ", but 'split.no' is missing",
                   count);
  if (!code)
    code = kr_directory_int(directory, "split.tensors.count", 0, MAX_TENSORS, &s.n_tensors, err);
  if (!code) code = read_name(&s, own, file->path, err);
  if (!code) code = find_parts(&s, err);
  if (code) code = kr_fail_path(err, code, file->path);
  for (int64_t no = 0; no < count && !code; no++) {
    kr_file other = {0};
    kr_directory others = {0};
    code = no == own ? add_part(source, &s, no, file, directory, err)
                     : add_part(source, &s, no, &other, &others, err);
  }
  if (!code) {
    code = check_whole(&s, source, err);
    if (code) code = kr_fail_path(err, code, kr_source_path(source));
  }
  kr_file_close(file);
  kr_directory_clear(directory);
  kr_free(s.name);
  return code;
}
