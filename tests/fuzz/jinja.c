/* Fuzz target: a chat template, compiled and rendered. An input is a template, or a chat as JSON, a
 * zero byte and a template. */
#include <krafla/krafla.h>
#include <stdint.h>
#include <string.h>

static const char usual_chat[] =
    "{\"messages\": [{\"role\": \"system\", \"content\": \"S\"}, {\"role\": \"user\", \"content\": "
    "\"Hi \\u00e9\", \"n\": [1, 2.5, null]}, {\"role\": \"assistant\", \"tool_calls\": "
    "[{\"function\": "
    "{\"name\": \"f\", \"arguments\": {\"a\": 1}}}]}], \"bos_token\": \"<s>\", \"eos_token\": "
    "\"</s>\", "
    "\"now\": \"2026-01-15T12:34:56\", \"add_generation_prompt\": true, \"kwargs\": {\"x\": "
    "\"y\"}}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *chat = usual_chat, *source = (const char *)data;
  const char *zero = size ? memchr(data, 0, size) : NULL;
  size_t n_chat = sizeof usual_chat - 1, n_text;
  kr_template *compiled;
  kr_error err;
  char *text;
  if (zero) {
    chat = source, n_chat = (size_t)(zero - source);
    source = zero + 1, size -= n_chat + 1;
  }
  if (kr_template_new(source, size, &compiled, &err) != KR_OK) return 0;
  if (kr_template_render(compiled, chat, n_chat, &text, &n_text, &err) == KR_OK) kr_text_free(text);
  kr_template_free(compiled);
  return 0;
}
