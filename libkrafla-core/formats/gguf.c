/* GGUF, versions 2 and 3: the header and the metadata.
 *
 *    0  char  magic[4]      "GGUF"
 *    4  u32   version       2 or 3: the same bytes, little-endian
 *    8  u64   n_tensors
 *   16  u64   n_keys
 *   24  n_keys times        string key, u32 type, value
 *       n_tensors times     a tensor entry (gguf_tensors.c)
 *       zeros up to a multiple of general.alignment (32 where absent), then the tensor data
 *
 * A string is a u64 length and that many bytes. An array is u32 type, u64 count, the elements.
 * Source    the GGUF text of the ggml project, docs/gguf.md.
 *
 * Limits of this reader, far above what real files have: */
#include "base/size.h"
#include "formats/reader.h"
#include <inttypes.h>
#include <string.h>

#define HEADER            24
#define MAX_KEYS          ((uint64_t)1 << 20)
#define MAX_KEY           65535 /* bytes of a key: the format's own limit */
#define MAX_NESTING       4     /* arrays in arrays */
#define MIN_ALIGNMENT     8     /* the format's own: a multiple of 8 */
#define MAX_ALIGNMENT     65536 /* the largest page of the machines that we know */
#define DEFAULT_ALIGNMENT 32

#define KEY_BYTES (8 + 1 + 4 + 1) /* the least that a key with its value takes */

static const struct {
  const char *name;
  uint8_t bytes; /* 0: varies */
} value_types[] = {
    [KR_VALUE_U8] = {"u8", 1},         [KR_VALUE_I8] = {"i8", 1},
    [KR_VALUE_U16] = {"u16", 2},       [KR_VALUE_I16] = {"i16", 2},
    [KR_VALUE_U32] = {"u32", 4},       [KR_VALUE_I32] = {"i32", 4},
    [KR_VALUE_F32] = {"f32", 4},       [KR_VALUE_BOOL] = {"bool", 1},
    [KR_VALUE_STRING] = {"string", 0}, [KR_VALUE_ARRAY] = {"array", 0},
    [KR_VALUE_U64] = {"u64", 8},       [KR_VALUE_I64] = {"i64", 8},
    [KR_VALUE_F64] = {"f64", 8},
};

const char *kr_value_type_name(uint32_t type) {
  return type < sizeof value_types / sizeof *value_types ? value_types[type].name : NULL;
}

static int check_bools(const kr_cursor *c, const uint8_t *data, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (data[i] > 1)
      return kr_cursor_fail(c, KR_E_FORMAT, "a bool at offset %zu is %u, neither 0 nor 1",
                            (size_t)(data - c->data) + i, (unsigned)data[i]);
  return KR_OK;
}

/* Type and count of an array at the cursor, and its elements up to their end. The count is compared
 * with the bytes that are left before it is used: an element takes its size, a string at least its
 * length field, an inner array its type and count. */
static int read_array(kr_cursor *c, int depth, kr_value *ret) {
  size_t start = c->at;
  uint32_t element;
  uint64_t n;
  int code = kr_cursor_u32(c, "the type of an array", &element);
  if (!code) code = kr_cursor_u64(c, "the count of an array", &n);
  if (code) return code;
  if (!kr_value_type_name(element))
    return kr_cursor_fail(c, KR_E_FORMAT, "the array at offset %zu has the unknown type %" PRIu32,
                          start, element);
  if (element == KR_VALUE_ARRAY && depth == MAX_NESTING)
    return kr_cursor_fail(c, KR_E_UNSUPPORTED, "arrays are nested more than %d deep at offset %zu",
                          MAX_NESTING, start);
  size_t least = element == KR_VALUE_STRING  ? 8
                 : element == KR_VALUE_ARRAY ? 12
                                             : value_types[element].bytes;
  if (n > kr_cursor_left(c) / least)
    return kr_cursor_fail(c, KR_E_FORMAT,
                          "the array at offset %zu has a count of %" PRIu64
                          " (type %s), more than the %zu bytes left can hold: truncated?",
                          start, n, value_types[element].name, kr_cursor_left(c));
  const uint8_t *data = c->data + c->at;
  if (element == KR_VALUE_STRING) {
    kr_text text;
    for (uint64_t i = 0; i < n && !code; i++)
      code = kr_cursor_text(c, "a string of an array", &text);
  } else if (element == KR_VALUE_ARRAY) {
    kr_value inner;
    for (uint64_t i = 0; i < n && !code; i++) code = read_array(c, depth + 1, &inner);
  } else {
    code = kr_cursor_take(c, n * least, "an array", &data);
    if (!code && element == KR_VALUE_BOOL) code = check_bools(c, data, (size_t)n);
  }
  if (code) return code;
  ret->element = element, ret->n = n, ret->data = data;
  ret->bytes = (size_t)(c->data + c->at - data);
  return KR_OK;
}

static int read_value(kr_cursor *c, kr_value *ret) {
  int code = kr_cursor_u32(c, "the type of the value", &ret->type);
  if (code) return code;
  if (!kr_value_type_name(ret->type))
    return kr_cursor_fail(c, KR_E_FORMAT, "the value at offset %zu has the unknown type %" PRIu32,
                          c->at - 4, ret->type);
  ret->element = ret->type;
  if (ret->type == KR_VALUE_ARRAY) return read_array(c, 1, ret);
  if (ret->type == KR_VALUE_STRING) {
    kr_text text;
    code = kr_cursor_text(c, "the string", &text);
    if (code) return code;
    ret->data = (const uint8_t *)text.data, ret->n = text.n, ret->bytes = text.n;
    return KR_OK;
  }
  ret->n = 1, ret->bytes = value_types[ret->type].bytes;
  code = kr_cursor_take(c, ret->bytes, "the value", &ret->data);
  if (!code && ret->type == KR_VALUE_BOOL) code = check_bools(c, ret->data, 1);
  return code;
}

static int read_key(kr_cursor *c, kr_text *ret) {
  size_t start = c->at;
  kr_text key;
  int code = kr_cursor_text(c, "the key", &key);
  if (code) return code;
  if (!key.n) return kr_cursor_fail(c, KR_E_FORMAT, "the key at offset %zu is empty", start);
  if (key.n > MAX_KEY)
    return kr_cursor_fail(c, KR_E_FORMAT,
                          "the key at offset %zu has a length of %zu, the limit is %d", start,
                          key.n, MAX_KEY);
  *ret = c->name = key;
  return KR_OK;
}

static int read_metadata(kr_cursor *c, kr_directory *directory) {
  if (c->count > kr_cursor_left(c) / KEY_BYTES || c->count > MAX_KEYS)
    return kr_fail(c->err, KR_E_FORMAT,
                   "the header's count of keys is %" PRIu64 ", too large for the %zu bytes left (a "
                   "truncated file?) or over the limit of %" PRIu64,
                   c->count, kr_cursor_left(c), MAX_KEYS);
  size_t room = 0;
  for (; c->index < c->count; c->index++) {
    c->kind = "key", c->name = (kr_text){0};
    kr_value *grown = kr_array_room(directory->values, directory->n_values, &room, sizeof *grown);
    if (!grown) return kr_fail_memory(c->err, "the metadata");
    directory->values = grown;
    kr_value value = {0};
    int code = read_key(c, &value.key);
    if (!code) code = read_value(c, &value);
    if (code) return code;
    directory->values[directory->n_values++] = value;
  }
  size_t twins[2];
  char shown[KR_SHOWN];
  int code = kr_names_build(directory->values, sizeof *directory->values, directory->n_values,
                            &directory->keys, twins);
  if (code == KR_E_MEMORY) return kr_fail_memory(c->err, "the index of the metadata");
  if (code)
    return kr_fail(c->err, code, "duplicate key '%s': entries %zu and %zu of %zu",
                   kr_shown(directory->values[twins[1]].key, shown), twins[0] + 1, twins[1] + 1,
                   directory->n_values);
  return KR_OK;
}

static int read_alignment(const kr_directory *directory, uint64_t *ret, kr_error *err) {
  int64_t alignment = (int64_t)*ret;
  int code = kr_directory_int(directory, "general.alignment", 0, INT64_MAX, &alignment, err);
  if (code) return code;
  if (alignment < MIN_ALIGNMENT || alignment > MAX_ALIGNMENT || alignment & (alignment - 1))
    return kr_fail(err, KR_E_FORMAT,
                   "key 'general.alignment' is %" PRId64 ", expected a power of two from %d to %d",
                   alignment, MIN_ALIGNMENT, MAX_ALIGNMENT);
  *ret = (uint64_t)alignment;
  return KR_OK;
}

static int read_version(const kr_cursor *c) {
  uint32_t version = kr_load_u32(c->data + 4);
  if (version == 2 || version == 3) return KR_OK;
  if (version && !(version & 0xffffff)) /* 3 in the other byte order is 0x03000000 */
    return kr_fail(c->err, KR_E_UNSUPPORTED,
                   "is a big-endian GGUF file (version %" PRIu32 " as 0x%08" PRIx32
                   "); convert it to little-endian first",
                   version >> 24, version);
  return kr_fail(c->err, KR_E_UNSUPPORTED,
                 "GGUF version %" PRIu32 " is not supported, only versions 2 and 3", version);
}

int kr_gguf_read(const kr_mapping *file, kr_directory *ret_directory, kr_error *err) {
  kr_cursor c = {.data = file->data, .size = file->size, .err = err};
  if (c.size >= 8) {
    int code = read_version(&c);
    if (code) return code;
  }
  if (c.size < HEADER)
    return kr_fail(err, KR_E_FORMAT,
                   "the file is truncated: it has %zu bytes, a GGUF header alone takes %d", c.size,
                   HEADER);
  uint64_t n_tensors = kr_load_u64(c.data + 8), alignment = DEFAULT_ALIGNMENT;
  c.count = kr_load_u64(c.data + 16);
  c.at = HEADER;
  kr_directory directory = {0};
  int code = read_metadata(&c, &directory);
  if (!code) code = read_alignment(&directory, &alignment, err);
  if (!code) {
    c.count = n_tensors;
    code = kr_gguf_tensors(&c, alignment, &directory);
  }
  if (code) {
    kr_directory_clear(&directory);
    return code;
  }
  *ret_directory = directory;
  return KR_OK;
}
