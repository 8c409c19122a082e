/* Tokenizer files of other formats, made into the head of a GGUF file: what an .mlt file is. */
#ifndef KR_TEXT_TOKENIZER_FILE_H
#define KR_TEXT_TOKENIZER_FILE_H

#include "formats/gguf_build.h"
#include "formats/json.h"

/* A Hugging Face tokenizer.json. */
int kr_tokenizer_json(const uint8_t *data, size_t n, kr_gguf_build *build, kr_error *err);
/* llama2.c's tokenizer.bin. */
int kr_tokenizer_bin(const uint8_t *data, size_t n, kr_gguf_build *build, kr_error *err);

/* What the parts of a tokenizer.json around its model say. */
typedef struct kr_pipeline {
  const char *pre;    /* name for tokenizer.ggml.pre of byte-level BPE; NULL: SentencePiece's */
  const char *prefix; /* for krafla.tokenizer.prefix */
  bool nfc, metaspace, split_spaces, strip;
  kr_json_value before[8], after[8]; /* numbers: ids that the post-processor adds */
  size_t n_before, n_after;
} kr_pipeline;

/* root: the whole file. Refuses by name what is not known. */
int kr_pipeline_read(kr_json_value root, kr_pipeline *ret_pipeline, kr_error *err);

#endif
