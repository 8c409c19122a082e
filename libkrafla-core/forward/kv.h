/* The KV cache: pages of KR_PAGE positions, for all layers and heads, counted by reference.
 *
 * A page holds, for each layer and each KV head, in the forms that the kernels read:
 *
 *   f32, f16   keys    a panel: 16 positions interleaved, [16 groups][head_dim][16]
 *              values  a panel: 16 dimensions interleaved, [value groups][256 positions][16]
 *   q8         keys    a Q8_0 panel with rows of positions, padded to pairs of blocks
 *              values  int8 [value_dim / 16][256][16], then f32 scales [256][value_dim / 32]
 *
 * so that scores are the product of keys with queries, and values of f32 and f16 the product of
 * values with probabilities. Positions that were never written hold zeros or what a finished
 * session left; they are computed with but never change a result. */
#ifndef KR_FORWARD_KV_H
#define KR_FORWARD_KV_H

#include "model/model.h"

typedef struct kr_kv_layout {
  kr_kv_type type;
  int64_t n_heads, k_dim, v_dim;
  int64_t k_row;               /* k_dim, or for q8 padded to KR_PAIR */
  int64_t v_row;               /* v_dim padded to 16, for q8 to 32 */
  int64_t k_group_bytes;       /* of 16 positions */
  int64_t v_group_bytes;       /* of 16 dimensions */
  size_t values_at, scales_at; /* in a head's part */
  size_t head_bytes, layer_bytes, page_bytes;
} kr_kv_layout;

typedef struct kr_kv_page {
  struct kr_kv_page *next; /* in the list of free pages */
  uint8_t *data;
  int32_t refs;
} kr_kv_page;

typedef struct kr_kv_cache {
  kr_kv_layout layout;
  kr_kv_page *free;
  size_t n_pages, max_pages; /* made; 0: no bound */
} kr_kv_cache;

int kr_kv_init(kr_kv_cache *cache, const kr_hparams *hp, kr_kv_type type, int64_t max_bytes,
               kr_error *err);
void kr_kv_clear(kr_kv_cache *cache); /* after all pages were given back */

/* A page with one reference. */
int kr_kv_take(kr_kv_cache *cache, kr_kv_page **ret_page, kr_error *err);
void kr_kv_ref(kr_kv_page *page);
void kr_kv_unref(kr_kv_cache *cache, kr_kv_page *page); /* NULL is nothing */

/* The key and value panels of a head in a page. */
kr_panel kr_kv_keys(const kr_kv_layout *layout, const kr_kv_page *page, int64_t layer,
                    int64_t head);
kr_panel kr_kv_values(const kr_kv_layout *layout, const kr_kv_page *page, int64_t layer,
                      int64_t head);
const float *kr_kv_scales(const kr_kv_layout *layout, const kr_kv_page *page, int64_t layer,
                          int64_t head);

/* Writes one position: k f32 [n_heads][k_dim], v f32 [n_heads][v_dim]. at is the position in the
 * page. scratch: kr_kv_scratch floats. */
void kr_kv_store(const kr_kv_layout *layout, const kr_kernels *table, kr_kv_page *page,
                 int64_t layer, int64_t at, const float *k, const float *v, float *scratch);
int64_t kr_kv_scratch(const kr_kv_layout *layout);

#endif
