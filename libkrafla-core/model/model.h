/* A model: hyper-parameters, weights in their slots, packed; read-only once it is open. */
#ifndef KR_MODEL_H
#define KR_MODEL_H

#include "arch/arch.h"
#include "base/pool.h"
#include "formats/source.h"
#include "text/vocab.h"
#include <krafla/backend.h>

/* How the rows of a packed matrix are stored: see krafla/backend.h. */
typedef enum kr_format {
  KR_FORMAT_Q4_0,
  KR_FORMAT_Q4_1,
  KR_FORMAT_Q8_0,
  KR_FORMAT_F16,
  KR_FORMAT_BF16,
  KR_FORMAT_F32
} kr_format;

static inline bool kr_format_is_quantized(kr_format format) {
  return format <= KR_FORMAT_Q8_0;
}

/* The format that keeps a tensor type: its own where the kernels have it, else Q8_0. */
kr_format kr_format_of(uint32_t type);
const char *kr_format_name(kr_format format);
/* Values of a row as stored, padding included. */
int64_t kr_format_row(kr_format format, int64_t k);
/* Bytes of a group of rows; a multiple of 64. */
int64_t kr_format_group_bytes(kr_format format, int64_t k);
/* The table's product for n columns. */
kr_product_fn *kr_format_product(const kr_kernels *table, kr_format format, int64_t n);

typedef struct kr_matrix {
  kr_panel panel;
  kr_format format;
  int64_t rows, k; /* as in the file */
  int64_t groups;
} kr_matrix;

/* What fills a slot: a matrix or a vector (f32), or nothing. */
typedef struct kr_weight {
  const kr_tensor *tensor;
  kr_matrix *matrix;
  const float *vector;
} kr_weight;

typedef kr_weight kr_layer[KR_N_LAYER];

struct kr_model {
  kr_source *source;
  const kr_arch *arch;
  kr_hparams hp;
  kr_weight global[KR_N_GLOBAL];
  kr_layer *layers; /* [hp.n_layers] */
  kr_vocab *vocab;
  char *name;
  kr_model_info info;
  char types[128];

  /* own storage */
  kr_matrix *matrices;
  size_t n_matrices;
  float *vectors;
  uint8_t *packed;
  size_t packed_bytes;
};

/* Reads and checks general.architecture and the architecture's keys. */
int kr_hparams_read(const kr_source *source, const kr_arch **ret_arch, kr_hparams *ret_hp,
                    kr_error *err);

/* Finds every tensor of the architecture, checks its shape, and fills model's slots and matrices;
 * vectors are converted, matrices only counted. */
int kr_model_bind(kr_model *model, kr_error *err);

/* Fills the packed form of all matrices. progress may be NULL. */
int kr_model_pack(kr_model *model, kr_pool *pool, kr_progress_fn *progress, void *progress_data,
                  kr_error *err);

/* Packs groups first <= g < last of a matrix from a tensor's rows. scratch: kr_pack_scratch bytes.
 */
void kr_pack_groups(const kr_matrix *matrix, const kr_tensor *tensor, int64_t first, int64_t last,
                    uint8_t *scratch);
/* 0 when none is needed; SIZE_MAX when it would be too large. */
size_t kr_pack_scratch(const kr_matrix *matrix, const kr_tensor *tensor);

/* One row of the token embedding as f32 [hp.dim], exactly as the file has it. */
void kr_model_embed(const kr_model *model, int32_t token, float *ret_row);

#endif
