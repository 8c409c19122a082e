/* Where the prompt comes from. */
#ifndef KR_RUN_PROMPT_H
#define KR_RUN_PROMPT_H

#include "run_options.h"

/* "1,450,3681" (spaces serve too) as an array of int32_t; NULL on error. */
GArray *kr_run_parse_tokens(const char *list, GError **error);

/* Reads \n \t \r \\ \" \' \xNN in n bytes, in place and zero-ended; other backslashes stay. Returns
 * the new length. */
gsize kr_run_unescape(char *text, gsize n);

/* The text of the prompt, byte for byte: an argument, a file, or standard input when that is no
 * terminal and no prompt was given. *ret_text is NULL if the prompt is a list of tokens, or, with
 * --chat, if messages are to be read line by line. */
gboolean kr_run_prompt_text(const kr_run_options *options, GString **ret_text, GError **error);

/* Whether all ids of the command line are in the vocabulary. */
gboolean kr_run_check_ids(const kr_run_options *options, const kr_vocab *vocab, GError **error);

/* The tokens of the prompt, an array of int32_t: those of text, or those given. NULL on error, and
 * if there are none. */
GArray *kr_run_prompt_tokens(const kr_run_options *options, const GString *text,
                             const kr_vocab *vocab, GError **error);

#endif
