/* A GGUF file read whole, changed, and written again: models that are nearly right. */
#ifndef KR_TEST_GGUF_EDIT_H
#define KR_TEST_GGUF_EDIT_H

#include "formats/source.h"
#include <glib.h>

typedef struct kr_edit kr_edit;

kr_edit *kr_edit_open(const char *path);
/* Writes the file, frees the edit. */
void kr_edit_save(kr_edit *edit, const char *path);

/* Put or replace a key. */
void kr_edit_u32(kr_edit *edit, const char *key, uint32_t value);
void kr_edit_f32(kr_edit *edit, const char *key, float value);
void kr_edit_string(kr_edit *edit, const char *key, const char *value);
void kr_edit_u32s(kr_edit *edit, const char *key, const uint32_t *values, size_t n);
void kr_edit_remove(kr_edit *edit, const char *key);

/* The bytes of a tensor, to be changed in place. */
uint8_t *kr_edit_data(kr_edit *edit, const char *tensor);
void kr_edit_remove_tensor(kr_edit *edit, const char *tensor);
/* A new F32 tensor of rows x k values, all of them value; rows 0: a vector. */
void kr_edit_add_f32(kr_edit *edit, const char *tensor, uint64_t k, uint64_t rows, float value);
/* Every tensor as F32, with the same values. */
void kr_edit_widen(kr_edit *edit);

#endif
