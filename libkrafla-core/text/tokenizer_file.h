/* Tokenizer files of other formats, made into the head of a GGUF file: what an .mlt file is. */
#ifndef KR_TEXT_TOKENIZER_FILE_H
#define KR_TEXT_TOKENIZER_FILE_H

#include "formats/gguf_build.h"
#include "formats/json.h"

/* The files beside a tokenizer.json; all zero where there are none. Their values have at NULL where
 * they are absent. */
typedef struct kr_tokenizer_config {
  kr_mapping file, jinja;
  kr_json_value bos, eos, chat, added;
} kr_tokenizer_config;

/* Opens those beside path. config is zero before; it is to be closed after a failure too. */
int kr_tokenizer_config_open(const char *path, kr_tokenizer_config *config, kr_error *err);
void kr_tokenizer_config_close(kr_tokenizer_config *config);
/* A token's text, a string; absent where that is given in no known form. */
kr_json_value kr_tokenizer_config_text(kr_json_value token);
/* Puts the chat templates into their keys. */
int kr_tokenizer_config_write(const kr_tokenizer_config *config, kr_gguf_build *build,
                              kr_error *err);

/* A Hugging Face tokenizer.json. config may be NULL. */
int kr_tokenizer_json(const uint8_t *data, size_t n, const kr_tokenizer_config *config,
                      kr_gguf_build *build, kr_error *err);
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

/* The members of the file that a pipeline is read from, in this order; absent ones have at NULL. */
enum { KR_PRE_TOKENIZER, KR_NORMALIZER, KR_DECODER, KR_POST_PROCESSOR, KR_N_STEPS };

/* Refuses by name what is not known. */
int kr_pipeline_read(const kr_json_value steps[KR_N_STEPS], kr_pipeline *ret_pipeline,
                     kr_error *err);

#endif
