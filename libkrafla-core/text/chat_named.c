/* Templates by name: those of families whose files may come without one. Compact sources of our
 * own; roles that a family does not know are an error. */
#include <krafla/krafla.h>
#include <string.h>

typedef struct named {
  const char *name, *stop, *source;
} named;

/* <|im_start|>ROLE, the content and <|im_end|> around each message. */
#define CHATML_TURNS                                                                               \
  "{%- for message in messages %}"                                                                 \
  "{{- '<|im_start|>' ~ message.role ~ '\\n' ~ message.content ~ '<|im_end|>\\n' }}"               \
  "{%- endfor %}"
#define CHATML_REPLY "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
#define CHATML_SYSTEM(text)                                                                        \
  "{%- if messages[0].role != 'system' %}"                                                         \
  "{{- '<|im_start|>system\\n" text "<|im_end|>\\n' }}"                                            \
  "{%- endif %}"

/* ChatML whose replies begin with a part for thinking, open or empty. What was thought in earlier
 * replies is left out. */
#define QWEN35(opening)                                                                            \
  "{%- for message in messages %}"                                                                 \
  "{%- set content = message.content | trim %}"                                                    \
  "{%- if message.role == 'assistant' and '</think>' in content %}"                                \
  "{%- set content = content.split('</think>')[-1] | trim %}"                                      \
  "{%- endif %}"                                                                                   \
  "{{- '<|im_start|>' ~ message.role ~ '\\n' ~ content ~ '<|im_end|>\\n' }}"                       \
  "{%- endfor %}"                                                                                  \
  "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n" opening "' }}{%- endif %}"

static const named templates[] = {
    {"llama3", "<|eot_id|>",
     "{{- bos_token }}"
     "{%- for message in messages %}"
     "{{- '<|start_header_id|>' ~ message.role ~ '<|end_header_id|>\\n\\n' }}"
     "{{- message.content | trim ~ '<|eot_id|>' }}"
     "{%- endfor %}"
     "{%- if add_generation_prompt %}"
     "{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}"
     "{%- endif %}"},
    {"zephyr", "</s>",
     "{%- for message in messages %}"
     "{{- '<|' ~ message.role ~ '|>\\n' ~ message.content ~ eos_token ~ '\\n' }}"
     "{%- endfor %}"
     "{%- if add_generation_prompt %}{{- '<|assistant|>\\n' }}{%- endif %}"},
    {"llama2", "</s>",
     "{%- set system = '' %}"
     "{%- if messages[0].role == 'system' %}"
     "{%- set system = '<<SYS>>\\n' ~ messages[0].content ~ '\\n<</SYS>>\\n\\n' %}"
     "{%- set messages = messages[1:] %}"
     "{%- endif %}"
     "{%- for message in messages %}"
     "{%- if message.role == 'user' %}"
     "{{- bos_token ~ '[INST] ' ~ (system if loop.first) ~ message.content | trim ~ ' [/INST]' }}"
     "{%- elif message.role == 'assistant' %}"
     "{{- ' ' ~ message.content | trim ~ ' ' ~ eos_token }}"
     "{%- else %}"
     "{{- raise_exception('llama2 has no messages of the role ' ~ message.role) }}"
     "{%- endif %}"
     "{%- endfor %}"},
    {"qwen", "<|im_end|>",
     CHATML_SYSTEM("You are Qwen, created by Alibaba Cloud. You are a helpful assistant.")
         CHATML_TURNS CHATML_REPLY},
    {"smollm", "<|im_end|>",
     CHATML_SYSTEM("You are a helpful AI assistant named SmolLM, trained by Hugging Face")
         CHATML_TURNS CHATML_REPLY},
    {"chatml", "<|im_end|>", CHATML_TURNS CHATML_REPLY},
    {"gemma", "<end_of_turn>",
     "{{- bos_token }}"
     "{%- set system = '' %}"
     "{%- if messages[0].role == 'system' %}"
     "{%- set system = messages[0].content ~ '\\n\\n' %}"
     "{%- set messages = messages[1:] %}"
     "{%- endif %}"
     "{%- for message in messages %}"
     "{%- set role = 'model' if message.role == 'assistant' else message.role %}"
     "{{- '<start_of_turn>' ~ role ~ '\\n' ~ (system if loop.first) }}"
     "{{- message.content | trim ~ '<end_of_turn>\\n' }}"
     "{%- endfor %}"
     "{%- if add_generation_prompt %}{{- '<start_of_turn>model\\n' }}{%- endif %}"},
    {"qwen3.5", "<|im_end|>", QWEN35("<think>\\n")},
    {"qwen3.5-nothink", "<|im_end|>", QWEN35("<think>\\n\\n</think>\\n\\n")},
};

const char *kr_chat_template_named(const char *name, const char **ret_stop) {
  for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
    if (strcmp(templates[i].name, name)) continue;
    if (ret_stop) *ret_stop = templates[i].stop;
    return templates[i].source;
  }
  return NULL;
}

const char *kr_chat_template_name(size_t i) {
  return i < sizeof templates / sizeof *templates ? templates[i].name : NULL;
}
