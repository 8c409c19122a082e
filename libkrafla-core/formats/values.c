/* Metadata values: their elements, and the typed look-ups of a source. */
#include "formats/reader.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define INTEGERS                                                                                   \
  (1u << KR_VALUE_U8 | 1u << KR_VALUE_I8 | 1u << KR_VALUE_U16 | 1u << KR_VALUE_I16 |               \
   1u << KR_VALUE_U32 | 1u << KR_VALUE_I32 | 1u << KR_VALUE_U64 | 1u << KR_VALUE_I64)
#define FLOATS (1u << KR_VALUE_F32 | 1u << KR_VALUE_F64)

static float load_f32(const uint8_t *p) {
  uint32_t bits = kr_load_u32(p);
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static double load_f64(const uint8_t *p) {
  uint64_t bits = kr_load_u64(p);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* A conversion that is defined for every double. */
static int64_t clamp_int(double x) {
  if (isnan(x)) return 0;
  if (x >= 0x1p63) return INT64_MAX;
  return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

int64_t kr_value_int(const kr_value *value, uint64_t i) {
  const uint8_t *p = value->data;
  switch (value->element) {
  case KR_VALUE_U8:
  case KR_VALUE_BOOL:
    return p[i];
  case KR_VALUE_I8:
    return (int8_t)p[i];
  case KR_VALUE_U16:
    return kr_load_u16(p + 2 * i);
  case KR_VALUE_I16:
    return (int16_t)kr_load_u16(p + 2 * i);
  case KR_VALUE_U32:
    return kr_load_u32(p + 4 * i);
  case KR_VALUE_I32:
    return (int32_t)kr_load_u32(p + 4 * i);
  case KR_VALUE_I64:
    return (int64_t)kr_load_u64(p + 8 * i);
  case KR_VALUE_U64: {
    uint64_t x = kr_load_u64(p + 8 * i);
    return x > INT64_MAX ? INT64_MAX : (int64_t)x;
  }
  case KR_VALUE_F32:
    return clamp_int((double)load_f32(p + 4 * i));
  case KR_VALUE_F64:
    return clamp_int(load_f64(p + 8 * i));
  default:
    return 0;
  }
}

double kr_value_float(const kr_value *value, uint64_t i) {
  switch (value->element) {
  case KR_VALUE_F32:
    return (double)load_f32(value->data + 4 * i);
  case KR_VALUE_F64:
    return load_f64(value->data + 8 * i);
  case KR_VALUE_U64:
    return (double)kr_load_u64(value->data + 8 * i);
  default:
    return (double)kr_value_int(value, i);
  }
}

bool kr_value_next(const kr_value *value, size_t *at, kr_text *ret) {
  if (value->type != KR_VALUE_ARRAY || value->element != KR_VALUE_STRING || *at >= value->bytes)
    return false;
  const uint8_t *string = value->data + *at;
  size_t n = (size_t)kr_load_u64(string);
  *ret = (kr_text){(const char *)string + 8, n};
  *at += 8 + n;
  return true;
}

/* "an array of u32" or "string", for messages. */
static const char *describe(const kr_value *value, char out[32]) {
  bool array = value->type == KR_VALUE_ARRAY;
  (void)snprintf(out, 32, "%s%s", array ? "an array of " : "",
                 kr_value_type_name(array ? value->element : value->type));
  return out;
}

static int fail_type(const kr_value *value, const char *expected, kr_error *err) {
  char shown[KR_SHOWN], type[32];
  return kr_fail(err, KR_E_FORMAT, "key '%s' has the type %s, expected %s",
                 kr_shown(value->key, shown), describe(value, type), expected);
}

static bool is_one_of(const kr_value *value, uint32_t mask) {
  return value && (mask >> value->type & 1);
}

int kr_directory_int(const kr_directory *directory, const char *key, int64_t min, int64_t max,
                     int64_t *ret, kr_error *err) {
  const kr_value *value = kr_directory_get(directory, key);
  if (!value) return KR_OK;
  if (!is_one_of(value, INTEGERS)) return fail_type(value, "an integer", err);
  int64_t x = kr_value_int(value, 0);
  if (value->type == KR_VALUE_U64 && kr_load_u64(value->data) > INT64_MAX)
    return kr_fail(err, KR_E_FORMAT, "key '%s' is %" PRIu64 ", more than %" PRId64, key,
                   kr_load_u64(value->data), max);
  if (x < min || x > max)
    return kr_fail(err, KR_E_FORMAT, "key '%s' is %" PRId64 ", not from %" PRId64 " to %" PRId64,
                   key, x, min, max);
  *ret = x;
  return KR_OK;
}

int kr_source_int(const kr_source *source, const char *key, int64_t min, int64_t max, int64_t *ret,
                  kr_error *err) {
  int code = kr_directory_int(&source->directory, key, min, max, ret, err);
  return code ? kr_fail_path(err, code, kr_source_path(source)) : KR_OK;
}

int kr_source_float(const kr_source *source, const char *key, double *ret, kr_error *err) {
  const kr_value *value = kr_source_get(source, key);
  if (!value) return KR_OK;
  int code = KR_OK;
  if (!is_one_of(value, INTEGERS | FLOATS))
    code = fail_type(value, "a number", err);
  else if (isnan(kr_value_float(value, 0)))
    code = kr_fail(err, KR_E_FORMAT, "key '%s' is NaN", key);
  if (code) return kr_fail_path(err, code, kr_source_path(source));
  *ret = kr_value_float(value, 0);
  return KR_OK;
}

int kr_source_bool(const kr_source *source, const char *key, bool *ret, kr_error *err) {
  const kr_value *value = kr_source_get(source, key);
  if (!value) return KR_OK;
  if (!is_one_of(value, 1u << KR_VALUE_BOOL))
    return kr_fail_path(err, fail_type(value, "a bool", err), kr_source_path(source));
  *ret = value->data[0] != 0;
  return KR_OK;
}

int kr_source_string(const kr_source *source, const char *key, kr_text *ret, kr_error *err) {
  const kr_value *value = kr_source_get(source, key);
  if (!value) return KR_OK;
  if (!is_one_of(value, 1u << KR_VALUE_STRING))
    return kr_fail_path(err, fail_type(value, "a string", err), kr_source_path(source));
  *ret = (kr_text){(const char *)value->data, value->bytes};
  return KR_OK;
}

int kr_source_array(const kr_source *source, const char *key, uint32_t mask, const kr_value **ret,
                    kr_error *err) {
  const kr_value *value = kr_source_get(source, key);
  if (value && (value->type != KR_VALUE_ARRAY || !(mask >> value->element & 1))) {
    char expected[128] = "an array of";
    size_t at = strlen(expected);
    for (uint32_t type = 0; kr_value_type_name(type); type++)
      if (mask >> type & 1)
        at += (size_t)snprintf(expected + at, sizeof expected - at, "%s %s",
                               at > strlen("an array of") ? " or" : "", kr_value_type_name(type));
    return kr_fail_path(err, fail_type(value, expected, err), kr_source_path(source));
  }
  *ret = value;
  return KR_OK;
}
