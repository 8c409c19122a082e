/* What happens to text before it is split: invalid UTF-8 is replaced; NFC for models that ask it.
 *
 * Both functions give the text itself where nothing changes, else what they wrote to out, which is
 * emptied first. They return KR_OK or KR_E_MEMORY, and are linear in n. */
#ifndef KR_TEXT_NORMALIZE_H
#define KR_TEXT_NORMALIZE_H

#include "text/buffer.h"

/* Every maximal subpart of an invalid sequence becomes U+FFFD. */
int kr_text_clean(const char *text, size_t n, kr_bytes *out, const char **ret_text, size_t *ret_n,
                  kr_error *err);

/* Canonical composition of valid UTF-8. */
int kr_text_nfc(const char *text, size_t n, kr_bytes *out, const char **ret_text, size_t *ret_n,
                kr_error *err);

#endif
