/* GGUF, versions 2 and 3: the tensor entries, and where their data stands.
 *
 *   string name, u32 n_dims, u64 dims[n_dims] (innermost first), u32 type, u64 offset
 *
 * The offset counts from the start of the tensor data, which is the end of the entries rounded up
 * to the alignment. Rows are whole blocks of the type. Tensors may stand in any order and with
 * gaps, but not over each other: a reader that believes an overlap lets one tensor rewrite another
 * when files are edited, and no writer makes one. */
#include "base/size.h"
#include "formats/reader.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_TENSORS ((uint64_t)1 << 20)     /* of one file */
#define MAX_NAME    65535                   /* bytes; the format says 64, files exceed it */
#define ENTRY_BYTES (8 + 1 + 4 + 8 + 4 + 8) /* the least that an entry takes */

/* Types that GGUF once had; files with them need another quantization. */
static const char *removed_type(uint32_t type) {
  switch (type) {
  case 4:
    return "Q4_2";
  case 5:
    return "Q4_3";
  case 31:
    return "Q4_0_4_4";
  case 32:
    return "Q4_0_4_8";
  case 33:
    return "Q4_0_8_8";
  case 36:
    return "IQ4_NL_4_4";
  case 37:
    return "IQ4_NL_4_8";
  case 38:
    return "IQ4_NL_8_8";
  default:
    return NULL;
  }
}

/* "[32, 296]", for messages. */
static const char *shape(const kr_tensor *tensor, char out[96]) {
  size_t at = (size_t)snprintf(out, 96, "[%" PRId64, tensor->dims[0]);
  for (int32_t i = 1; i < tensor->n_dims; i++)
    at += (size_t)snprintf(out + at, 96 - at, ", %" PRId64, tensor->dims[i]);
  (void)snprintf(out + at, 96 - at, "]");
  return out;
}

static int read_dims(kr_cursor *c, kr_tensor *tensor) {
  size_t start = c->at;
  uint32_t n;
  int code = kr_cursor_u32(c, "the number of dimensions", &n);
  if (code) return code;
  if (n < 1 || n > 4)
    return kr_cursor_fail(c, KR_E_FORMAT,
                          "the number of dimensions at offset %zu is %" PRIu32 ", not 1 to 4 "
                          "(is the header's count of keys right?)",
                          start, n);
  tensor->n_dims = (int32_t)n;
  for (uint32_t i = 0; i < 4; i++) {
    uint64_t dim = 1;
    if (i < n) code = kr_cursor_u64(c, "a dimension", &dim);
    if (code) return code;
    if (!dim || dim > INT64_MAX)
      return kr_cursor_fail(c, KR_E_FORMAT, "dimension %" PRIu32 " of %" PRIu32 " is %" PRId64,
                            i + 1, n, (int64_t)dim);
    tensor->dims[i] = (int64_t)dim;
  }
  return KR_OK;
}

/* The bytes of the tensor from its type and dims. */
static int measure(const kr_cursor *c, kr_tensor *tensor) {
  char dims[96];
  const kr_type_info *type = kr_type_get(tensor->type);
  if (!type && removed_type(tensor->type))
    return kr_cursor_fail(c, KR_E_UNSUPPORTED,
                          "tensor type %" PRIu32 " (%s) was removed from GGUF; quantize the model "
                          "again",
                          tensor->type, removed_type(tensor->type));
  if (!type)
    return kr_cursor_fail(c, KR_E_UNSUPPORTED, "tensor type %" PRIu32 " is unknown", tensor->type);
  if (tensor->dims[0] % type->block)
    return kr_cursor_fail(c, KR_E_FORMAT,
                          "shape %s: rows of type %s are whole blocks of %" PRId32 " values",
                          shape(tensor, dims), type->name, type->block);
  uint64_t bytes = (uint64_t)(tensor->dims[0] / type->block);
  bool fits = kr_mul_u64(bytes, (uint64_t)type->bytes, &bytes);
  for (int i = 1; i < 4; i++) fits = fits && kr_mul_u64(bytes, (uint64_t)tensor->dims[i], &bytes);
  if (!fits || bytes > INT64_MAX || bytes > SIZE_MAX)
    return kr_cursor_fail(
        c, KR_E_FORMAT, "the tensor is larger than the file: shape %s of type %s, %zu bytes in all",
        shape(tensor, dims), type->name, c->size);
  tensor->bytes = (size_t)bytes;
  return KR_OK;
}

static int read_entry(kr_cursor *c, uint64_t alignment, kr_tensor *ret, uint64_t *ret_offset) {
  size_t start = c->at;
  kr_tensor tensor = {0};
  int code = kr_cursor_text(c, "the name", &tensor.name);
  if (code) return code;
  if (!tensor.name.n || tensor.name.n > MAX_NAME)
    return kr_cursor_fail(c, KR_E_FORMAT,
                          "the name at offset %zu has a length of %zu, not 1 to %d (has the file "
                          "fewer tensors than its header says?)",
                          start, tensor.name.n, MAX_NAME);
  c->name = tensor.name;
  code = read_dims(c, &tensor);
  if (!code) code = kr_cursor_u32(c, "the type", &tensor.type);
  if (!code) code = measure(c, &tensor);
  if (!code) code = kr_cursor_u64(c, "the offset", ret_offset);
  if (code) return code;
  if (*ret_offset % alignment)
    return kr_cursor_fail(c, KR_E_FORMAT,
                          "the data offset %" PRIu64 " is no multiple of the alignment, %" PRIu64,
                          *ret_offset, alignment);
  *ret = tensor;
  return KR_OK;
}

static int by_place(const void *a, const void *b) {
  const kr_tensor *x = *(const kr_tensor *const *)a, *y = *(const kr_tensor *const *)b;
  return x->data < y->data ? -1 : x->data > y->data;
}

static int fail_overlap(const kr_cursor *c, const kr_tensor *a, const kr_tensor *b) {
  char first[KR_SHOWN], second[KR_SHOWN];
  return kr_fail(c->err, KR_E_FORMAT,
                 "tensors overlap: '%s' takes bytes %zu to %zu of the file, '%s' starts at offset "
                 "%zu",
                 kr_shown(a->name, first), (size_t)(a->data - c->data),
                 (size_t)(a->data - c->data) + a->bytes, kr_shown(b->name, second),
                 (size_t)(b->data - c->data));
}

static int check_overlap(const kr_cursor *c, const kr_directory *directory) {
  size_t n = directory->n_tensors, i = 1;
  const kr_tensor *t = directory->tensors;
  while (i < n && t[i].data >= t[i - 1].data + t[i - 1].bytes) i++;
  if (i >= n) return KR_OK; /* as every writer known leaves them: in the order of the entries */
  const kr_tensor **sorted = kr_alloc(n, sizeof *sorted);
  if (!sorted) return kr_fail_memory(c->err, "the order of the tensors");
  for (i = 0; i < n; i++) sorted[i] = &t[i];
  qsort(sorted, n, sizeof *sorted, by_place);
  int code = KR_OK;
  for (i = 1; i < n && !code; i++)
    if (sorted[i]->data < sorted[i - 1]->data + sorted[i - 1]->bytes)
      code = fail_overlap(c, sorted[i - 1], sorted[i]);
  kr_free(sorted);
  return code;
}

static int fail_incomplete(const kr_cursor *c, uint64_t need, const kr_tensor *last,
                           uint64_t offset) {
  char shown[KR_SHOWN], dims[96];
  return kr_fail(
      c->err, KR_E_FORMAT,
      "the file is incomplete: need %" PRIu64 " bytes, have %zu; tensor '%s', shape %s of "
      "type %s at data offset %" PRIu64 ", %s",
      need, c->size, kr_shown(last->name, shown), shape(last, dims), kr_type_get(last->type)->name,
      offset, last->bytes > c->size ? "is larger than the file" : "ends there");
}

/* Turns offsets into pointers, when the data of all tensors is there. */
static int place_data(const kr_cursor *c, uint64_t alignment, const uint64_t *offsets,
                      kr_directory *directory) {
  uint64_t start, need = 0;
  const kr_tensor *last = NULL;
  if (!kr_align_u64(c->at, alignment, &start)) start = UINT64_MAX;
  for (size_t i = 0; i < directory->n_tensors; i++) {
    uint64_t end;
    if (!kr_add_u64(start, offsets[i], &end) || !kr_add_u64(end, directory->tensors[i].bytes, &end))
      end = UINT64_MAX;
    if (end >= need) need = end, last = &directory->tensors[i];
  }
  if (last && need > c->size)
    return fail_incomplete(c, need, last, offsets[last - directory->tensors]);
  for (size_t i = 0; i < directory->n_tensors; i++)
    directory->tensors[i].data = c->data + start + offsets[i];
  return check_overlap(c, directory);
}

static int index_names(const kr_cursor *c, kr_directory *directory) {
  size_t twins[2];
  char shown[KR_SHOWN];
  int code = kr_names_build(directory->tensors, sizeof *directory->tensors, directory->n_tensors,
                            &directory->names, twins);
  if (code == KR_E_MEMORY) return kr_fail_memory(c->err, "the index of the tensors");
  if (code)
    return kr_fail(c->err, code, "duplicate tensor name '%s': entries %zu and %zu of %zu",
                   kr_shown(directory->tensors[twins[1]].name, shown), twins[0] + 1, twins[1] + 1,
                   directory->n_tensors);
  return KR_OK;
}

int kr_gguf_tensors(kr_cursor *c, uint64_t alignment, kr_directory *directory) {
  if (c->count > kr_cursor_left(c) / ENTRY_BYTES || c->count > MAX_TENSORS)
    return kr_fail(c->err, KR_E_FORMAT,
                   "the header's count of tensors is %" PRIu64 ", too large for the %zu bytes left "
                   "after the metadata (a truncated file?) or over the limit of %" PRIu64,
                   c->count, kr_cursor_left(c), MAX_TENSORS);
  uint64_t *offsets = NULL;
  size_t room = 0, offsets_room = 0;
  int code = KR_OK;
  for (c->index = 0; c->index < c->count && !code; c->index++) {
    c->kind = "tensor", c->name = (kr_text){0};
    size_t n = directory->n_tensors;
    kr_tensor *tensors = kr_array_room(directory->tensors, n, &room, sizeof *tensors);
    if (tensors) directory->tensors = tensors;
    uint64_t *more = kr_array_room(offsets, n, &offsets_room, sizeof *offsets);
    if (more) offsets = more;
    if (!tensors || !more) {
      code = kr_fail_memory(c->err, "the tensor entries");
      break;
    }
    code = read_entry(c, alignment, &tensors[n], &offsets[n]);
    if (!code) directory->n_tensors++;
  }
  if (!code) code = place_data(c, alignment, offsets, directory);
  kr_array_free(offsets);
  if (!code) code = index_names(c, directory);
  return code;
}
