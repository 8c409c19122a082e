/* Tensors into slots: each is there, has its shape, and is of a type for its use. */
#include "base/size.h"
#include "model/model.h"
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64 };

/* "[64, 512]" */
static void shape_text(const kr_tensor *t, char *out, size_t size) {
  size_t at = 0;
  for (int i = 0; i < t->n_dims && at < size; i++)
    at += (size_t)snprintf(out + at, size - at, "%s%lld", i ? ", " : "[", (long long)t->dims[i]);
  if (at < size) snprintf(out + at, size - at, "]");
}

static int wrong_shape(const kr_model *m, const char *name, const kr_tensor *t,
                       const kr_arch_tensor *d, kr_error *err) {
  char shape[96], want[192];
  shape_text(t, shape, sizeof shape);
  int n = snprintf(want, sizeof want, "[%lld (%s.%s)", (long long)kr_extent_value(d->k, &m->hp),
                   m->arch->name, kr_extent_name(d->k));
  if (d->rows != KR_ONE)
    snprintf(want + n, sizeof want - (size_t)n, ", %lld (%s.%s)",
             (long long)kr_extent_value(d->rows, &m->hp), m->arch->name, kr_extent_name(d->rows));
  return kr_fail(err, KR_E_FORMAT, "tensor %s has shape %s, needs %s]", name, shape, want);
}

static bool has_shape(const kr_model *m, const kr_tensor *t, const kr_arch_tensor *d) {
  return t->dims[0] == kr_extent_value(d->k, &m->hp) &&
         t->dims[1] == kr_extent_value(d->rows, &m->hp) && t->dims[2] == 1 && t->dims[3] == 1;
}

static int bind(kr_model *m, const kr_arch_tensor *d, const char *name, kr_weight *slot,
                kr_error *err) {
  const kr_tensor *t = kr_source_tensor(m->source, name);
  if (!t && d->optional) return KR_OK;
  if (!t)
    return kr_fail(err, KR_E_FORMAT, "tensor %s is missing (%s.block_count is %lld)", name,
                   m->arch->name, (long long)m->hp.n_layers);
  if (!has_shape(m, t, d)) return wrong_shape(m, name, t, d, err);
  const kr_type_info *type = kr_type_get(t->type);
  if (!type || !type->dequantize)
    return kr_fail(err, KR_E_UNSUPPORTED, "tensor %s has type %s, which holds no weights", name,
                   type ? type->name : "unknown");
  slot->tensor = t;
  if (d->rows != KR_ONE) m->n_matrices++;
  return KR_OK;
}

static int bind_all(kr_model *m, kr_error *err) {
  int code = KR_OK;
  for (size_t i = 0; !code && i < m->arch->n_globals; i++) {
    const kr_arch_tensor *d = &m->arch->globals[i];
    code = bind(m, d, d->name, &m->global[d->slot], err);
  }
  for (int64_t l = 0; l < m->hp.n_layers; l++)
    for (size_t i = 0; !code && i < m->arch->n_layer; i++) {
      const kr_arch_tensor *d = &m->arch->layer[i];
      char name[NAME_BYTES];
      snprintf(name, sizeof name, "blk.%lld.%s", (long long)l, d->name);
      code = bind(m, d, name, &m->layers[l][d->slot], err);
    }
  return code;
}

/* ---- storage: visits every filled slot ------------------------------------------------------- */

typedef struct storage {
  kr_model *model;
  kr_matrix *matrix; /* the next free one */
  float *vector;
  size_t vector_values, packed_bytes;
  bool overflow;
} storage;

static void measure_matrix(storage *s, kr_weight *w) {
  const kr_tensor *t = w->tensor;
  kr_format format = kr_format_of(t->type);
  kr_matrix *m = w->matrix = s->matrix++;
  int64_t groups = (t->dims[1] + KR_GROUP - 1) / KR_GROUP;
  size_t bytes;
  *m = (kr_matrix){
      .panel = {NULL, kr_format_group_bytes(format, t->dims[0]), kr_format_row(format, t->dims[0])},
      .format = format,
      .rows = t->dims[1],
      .k = t->dims[0],
      .groups = groups};
  if (!kr_mul_size((size_t)groups, (size_t)m->panel.group_bytes, &bytes) ||
      !kr_add_size(s->packed_bytes, bytes, &s->packed_bytes))
    s->overflow = true;
}

typedef void visit_fn(storage *s, kr_weight *weight, const kr_arch_tensor *description);

static void visit_all(storage *s, visit_fn *visit) {
  kr_model *m = s->model;
  for (size_t i = 0; i < m->arch->n_globals; i++) {
    kr_weight *w = &m->global[m->arch->globals[i].slot];
    if (w->tensor) visit(s, w, &m->arch->globals[i]);
  }
  for (int64_t l = 0; l < m->hp.n_layers; l++)
    for (size_t i = 0; i < m->arch->n_layer; i++) {
      kr_weight *w = &m->layers[l][m->arch->layer[i].slot];
      if (w->tensor) visit(s, w, &m->arch->layer[i]);
    }
}

/* The token embedding is looked up in the file; it is packed only where it is the output too. */
static bool is_packed(const kr_model *m, const kr_weight *w, const kr_arch_tensor *d) {
  return d->rows != KR_ONE && !(w == &m->global[KR_TOKEN_EMBD] && m->global[KR_OUTPUT].tensor);
}

static void measure(storage *s, kr_weight *w, const kr_arch_tensor *d) {
  if (d->rows == KR_ONE)
    s->vector_values += (size_t)kr_round_up(w->tensor->dims[0], 16);
  else if (is_packed(s->model, w, d))
    measure_matrix(s, w);
}

static void convert_vector(storage *s, kr_weight *w, const kr_arch_tensor *d) {
  if (d->rows != KR_ONE) return;
  kr_type_get(w->tensor->type)->dequantize(w->tensor->data, w->tensor->dims[0], s->vector);
  w->vector = s->vector;
  s->vector += kr_round_up(w->tensor->dims[0], 16);
}

static int make_storage(kr_model *m, kr_error *err) {
  m->matrices = kr_alloc(m->n_matrices, sizeof *m->matrices);
  if (!m->matrices) return kr_fail_memory(err, "matrices");
  storage s = {.model = m, .matrix = m->matrices};
  visit_all(&s, measure);
  m->n_matrices = (size_t)(s.matrix - m->matrices);
  m->vectors = kr_alloc(s.vector_values, sizeof *m->vectors);
  if (s.overflow || !m->vectors) return kr_fail_memory(err, "weights");
  s.vector = m->vectors;
  visit_all(&s, convert_vector);
  m->packed_bytes = s.packed_bytes;
  return KR_OK;
}

/* The rotation's factors divide: angles must stay numbers, and below the 2^30 that kr_real_sin_cos
 * takes. */
static int check_factors(const kr_model *m, kr_error *err) {
  const kr_weight *w = &m->global[KR_ROPE_FACTORS];
  double least = (double)m->hp.n_ctx / m->hp.rope_factor * 0x1p-30;
  for (int64_t i = 0; w->tensor && i < w->tensor->dims[0]; i++) {
    double factor = (double)w->vector[i];
    if (!(factor > 0 && factor >= least && factor < 1e30)) /* NaN too */
      return kr_fail(err, KR_E_FORMAT, "tensor rope_freqs.weight has a factor of %g", factor);
  }
  return KR_OK;
}

int kr_model_bind(kr_model *m, kr_error *err) {
  const kr_tensor *embedding = kr_source_tensor(m->source, "token_embd.weight");
  m->hp.n_vocab = embedding ? embedding->dims[1] : 1;
  if (m->hp.n_vocab > INT32_MAX / 16)
    return kr_fail(err, KR_E_UNSUPPORTED, "a vocabulary of %lld tokens", (long long)m->hp.n_vocab);
  m->layers = kr_alloc((size_t)m->hp.n_layers, sizeof *m->layers);
  if (!m->layers) return kr_fail_memory(err, "layers");
  int code = bind_all(m, err);
  if (!code) code = make_storage(m, err);
  return code ? code : check_factors(m, err);
}
