#include "byte_vocab.h"
#include <string.h>

/* Each half is a byte or the result of an earlier line. */
static const char *const merges[] = {
    "Ġ t", "h e",   "i n", "Ġ a",  "r e",  "o n", "Ġt he", "e r",   "Ġ s",   "a t",  "Ġ w",
    "o u", "n d",   "e n", "in g", "Ġ o",  "i s", "Ġo f",  "i t",   "Ġa nd", "Ġ c",  "o r",
    "e d", "e s",   "Ġ p", "Ġt o", "Ġ f",  "l l", "Ġ in",  "Ġ m",   "Ġ b",   "a n",  "Ġ h",
    "Ġ Ġ", "ĠĠ ĠĠ", "Ċ Ċ", "Ġ is", "Ġh e", "a l", "a s",   "Ġw as", "Ġ d",   "i on",
};

/* tokenizer.ggml.token_type */
enum { NORMAL = 1, CONTROL = 3, UNUSED = 5 };

static const char *const control[] = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};

static const char chat_template[] =
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + "
    "message['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/* GPT-2's names of bytes: printable ones of Latin-1 are themselves, the others are counted from
 * U+0100 on. */
static void add_bytes(GPtrArray *tokens) {
  gunichar next = 0x100;
  for (gunichar byte = 0; byte < 256; byte++) {
    gboolean plain = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
    char text[7] = {0};
    g_unichar_to_utf8(plain ? byte : next++, text);
    g_ptr_array_add(tokens, g_strdup(text));
  }
}

void kr_put_byte_vocab(kr_gguf_writer *writer, gsize n) {
  g_autoptr(GPtrArray) tokens = g_ptr_array_new_with_free_func(g_free);
  for (gsize i = 0; i < G_N_ELEMENTS(control); i++) g_ptr_array_add(tokens, g_strdup(control[i]));
  add_bytes(tokens);
  gsize n_merges = 0;
  for (; n_merges < G_N_ELEMENTS(merges) && tokens->len < n; n_merges++) {
    const char *pair = merges[n_merges], *space = strchr(pair, ' ');
    g_ptr_array_add(tokens, g_strdup_printf("%.*s%s", (int)(space - pair), pair, space + 1));
  }
  gsize n_used = tokens->len;
  while (tokens->len < n) g_ptr_array_add(tokens, g_strdup_printf("[PAD%u]", tokens->len));

  g_autofree gint32 *types = g_new(gint32, n);
  for (gsize i = 0; i < n; i++)
    types[i] = i < G_N_ELEMENTS(control) ? CONTROL : i < n_used ? NORMAL : UNUSED;
  kr_gguf_put_string(writer, "tokenizer.ggml.model", "gpt2");
  kr_gguf_put_string(writer, "tokenizer.ggml.pre", "smollm");
  kr_gguf_put_strings(writer, "tokenizer.ggml.tokens", (const char *const *)tokens->pdata, n);
  kr_gguf_put_i32s(writer, "tokenizer.ggml.token_type", types, n);
  kr_gguf_put_strings(writer, "tokenizer.ggml.merges", merges, n_merges);
  kr_gguf_put_u32(writer, "tokenizer.ggml.bos_token_id", 1);
  kr_gguf_put_u32(writer, "tokenizer.ggml.eos_token_id", 2);
  kr_gguf_put_u32(writer, "tokenizer.ggml.unknown_token_id", 0);
  kr_gguf_put_u32(writer, "tokenizer.ggml.padding_token_id", 2);
  kr_gguf_put_bool(writer, "tokenizer.ggml.add_bos_token", FALSE);
  kr_gguf_put_bool(writer, "tokenizer.ggml.add_space_prefix", FALSE);
  kr_gguf_put_string(writer, "tokenizer.chat_template", chat_template);
}
