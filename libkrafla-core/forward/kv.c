/* The KV cache: layout, pages, and writing one position. */
#include "forward/kv.h"
#include "base/half.h"
#include "base/size.h"
#include <string.h>

enum { Q8_PAIR_BYTES = 1088, Q8_QUANTS = 64, Q8_BLOCK_BYTES = 512 };

static int64_t align64(int64_t n) {
  return kr_round_up(n, 64);
}

static void plan(kr_kv_layout *l) {
  int64_t scales = 0;
  if (l->type == KR_KV_Q8) {
    l->k_row = kr_round_up(l->k_dim, KR_PAIR);
    l->v_row = kr_round_up(l->v_dim, KR_BLOCK);
    l->k_group_bytes = l->k_row / KR_PAIR * Q8_PAIR_BYTES;
    l->v_group_bytes = KR_PAGE * 16;
    scales = KR_PAGE * (l->v_row / KR_BLOCK) * (int64_t)sizeof(float);
  } else {
    int64_t bytes = l->type == KR_KV_F16 ? 2 : 4;
    l->k_row = l->k_dim;
    l->v_row = kr_round_up(l->v_dim, 16);
    l->k_group_bytes = align64(l->k_dim * 16 * bytes);
    l->v_group_bytes = KR_PAGE * 16 * bytes;
  }
  l->values_at = (size_t)(KR_PAGE / 16 * l->k_group_bytes);
  l->scales_at = l->values_at + (size_t)(l->v_row / 16 * l->v_group_bytes);
  l->head_bytes = l->scales_at + (size_t)align64(scales);
}

int kr_kv_init(kr_kv_cache *cache, const kr_hparams *hp, kr_kv_type type, int64_t max_bytes,
               kr_error *err) {
  kr_kv_layout *l = &cache->layout;
  *cache = (kr_kv_cache){
      .layout = {
          .type = type, .n_heads = hp->n_kv_heads, .k_dim = hp->head_dim, .v_dim = hp->value_dim}};
  plan(l); /* dimensions are bounded, so one head's part fits; the products may not */
  if (!kr_mul_size(l->head_bytes, (size_t)l->n_heads, &l->layer_bytes) ||
      !kr_mul_size(l->layer_bytes, (size_t)hp->n_layers, &l->page_bytes))
    return kr_fail_memory(err, "a page of the KV cache");
  if (max_bytes > 0) {
    cache->max_pages = (size_t)((uint64_t)max_bytes / l->page_bytes);
    if (!cache->max_pages)
      return kr_fail(err, KR_E_ARGUMENT, "kv_bytes: %lld, less than the %llu of one page",
                     (long long)max_bytes, (unsigned long long)l->page_bytes);
  }
  return KR_OK;
}

void kr_kv_clear(kr_kv_cache *cache) {
  while (cache->free) {
    kr_kv_page *page = cache->free;
    cache->free = page->next;
    kr_pages_free(page->data, cache->layout.page_bytes);
    kr_free(page);
  }
}

int kr_kv_take(kr_kv_cache *cache, kr_kv_page **ret_page, kr_error *err) {
  kr_kv_page *page = cache->free;
  if (page) {
    cache->free = page->next;
  } else {
    if (cache->max_pages && cache->n_pages == cache->max_pages)
      return kr_fail(err, KR_E_FULL, "the KV cache is full: all %llu pages are in use",
                     (unsigned long long)cache->max_pages);
    page = kr_alloc(1, sizeof *page);
    if (page) page->data = kr_pages_alloc(cache->layout.page_bytes);
    if (!page || !page->data) {
      kr_free(page);
      return kr_fail_memory(err, "a page of the KV cache");
    }
    cache->n_pages++;
  }
  page->next = NULL, page->refs = 1;
  *ret_page = page;
  return KR_OK;
}

void kr_kv_ref(kr_kv_page *page) {
  page->refs++;
}

void kr_kv_unref(kr_kv_cache *cache, kr_kv_page *page) {
  if (!page || --page->refs) return;
  page->next = cache->free;
  cache->free = page;
}

static uint8_t *head_data(const kr_kv_layout *l, const kr_kv_page *page, int64_t layer,
                          int64_t head) {
  return page->data + (size_t)layer * l->layer_bytes + (size_t)head * l->head_bytes;
}

kr_panel kr_kv_keys(const kr_kv_layout *l, const kr_kv_page *page, int64_t layer, int64_t head) {
  return (kr_panel){head_data(l, page, layer, head), l->k_group_bytes, l->k_row};
}

kr_panel kr_kv_values(const kr_kv_layout *l, const kr_kv_page *page, int64_t layer, int64_t head) {
  return (kr_panel){head_data(l, page, layer, head) + l->values_at, l->v_group_bytes, KR_PAGE};
}

const float *kr_kv_scales(const kr_kv_layout *l, const kr_kv_page *page, int64_t layer,
                          int64_t head) {
  return (const float *)(head_data(l, page, layer, head) + l->scales_at);
}

/* ---- writing a position --------------------------------------------------------------------- */

int64_t kr_kv_scratch(const kr_kv_layout *l) {
  int64_t row = l->k_row > l->v_row ? l->k_row : l->v_row;
  return row + 2 * (row / KR_BLOCK + 1) + 16; /* int8 or f16 values, f32 scales, int32 sums */
}

static void store_f32(const kr_kv_layout *l, uint8_t *part, int64_t at, const float *k,
                      const float *v) {
  float *keys = (float *)(part + at / 16 * l->k_group_bytes);
  for (int64_t i = 0; i < l->k_dim; i++) keys[i * 16 + at % 16] = k[i];
  for (int64_t i = 0; i < l->v_dim; i++)
    *((float *)(part + l->values_at + i / 16 * l->v_group_bytes) + at * 16 + i % 16) = v[i];
}

static void store_f16(const kr_kv_layout *l, const kr_kernels *table, uint8_t *part, int64_t at,
                      const float *k, const float *v, float *scratch) {
  uint16_t *half = (uint16_t *)scratch;
  uint16_t *keys = (uint16_t *)(part + at / 16 * l->k_group_bytes);
  table->to_f16(k, l->k_dim, half);
  for (int64_t i = 0; i < l->k_dim; i++) keys[i * 16 + at % 16] = half[i];
  table->to_f16(v, l->v_dim, half);
  for (int64_t i = 0; i < l->v_dim; i++)
    *((uint16_t *)(part + l->values_at + i / 16 * l->v_group_bytes) + at * 16 + i % 16) = half[i];
}

static void store_q8(const kr_kv_layout *l, const kr_kernels *table, uint8_t *part, int64_t at,
                     const float *k, const float *v, float *scratch) {
  int64_t row = l->k_row > l->v_row ? l->k_row : l->v_row;
  float *d = scratch;
  int32_t *s = (int32_t *)(d + row / KR_BLOCK);
  int8_t *q = (int8_t *)(s + row / KR_BLOCK);
  uint8_t *keys = part + at / 16 * l->k_group_bytes;
  int64_t lane = at % 16;
  table->quantize(k, l->k_dim, 1, l->k_dim, l->k_row, q, d, s);
  for (int64_t b = 0; b < l->k_row / KR_BLOCK; b++) {
    uint8_t *pair = keys + b / 2 * Q8_PAIR_BYTES;
    uint16_t half = kr_float_to_half(d[b]);
    memcpy(pair + b % 2 * 32 + lane * 2, &half, 2);
    for (int64_t u = 0; u < 8; u++)
      memcpy(pair + Q8_QUANTS + b % 2 * Q8_BLOCK_BYTES + u * 64 + lane * 4,
             q + b * KR_BLOCK + u * 4, 4);
  }
  int64_t blocks = l->v_row / KR_BLOCK;
  table->quantize(v, l->v_dim, 1, l->v_dim, l->v_row, q, d, s);
  memcpy(part + l->scales_at + (size_t)(at * blocks) * sizeof *d, d, (size_t)blocks * sizeof *d);
  for (int64_t g = 0; g < l->v_row / 16; g++)
    memcpy(part + l->values_at + g * l->v_group_bytes + at * 16, q + g * 16, 16);
}

void kr_kv_store(const kr_kv_layout *l, const kr_kernels *table, kr_kv_page *page, int64_t layer,
                 int64_t at, const float *k, const float *v, float *scratch) {
  for (int64_t h = 0; h < l->n_heads; h++) {
    uint8_t *part = head_data(l, page, layer, h);
    const float *hk = k + h * l->k_dim, *hv = v + h * l->v_dim;
    switch (l->type) {
    case KR_KV_F32:
      store_f32(l, part, at, hk, hv);
      break;
    case KR_KV_F16:
      store_f16(l, table, part, at, hk, hv, scratch);
      break;
    case KR_KV_Q8:
      store_q8(l, table, part, at, hk, hv, scratch);
      break;
    }
  }
}
