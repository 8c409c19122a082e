/* Chat templates: compiling them, and rendering a conversation as transformers' apply_chat_template
 * does, the preparation of the messages included. */
#include "text/jinja/jinja_builtin.h"

/* ---- failures ---------------------------------------------------------------------------------
 */

/* The error of a context; what a template raised itself stands as it is. */
static int report(const kr_jctx *c, kr_error *err) {
  if (c->raised || c->code == KR_E_MEMORY || c->code == KR_E_ARGUMENT)
    return kr_fail(err, c->code, "%s", c->message);
  if (c->line)
    return kr_fail(err, c->code, "%.420s (chat template, line %u)", c->message, (unsigned)c->line);
  return kr_fail(err, c->code, "%.420s (chat template)", c->message);
}

/* ---- compiling --------------------------------------------------------------------------------
 */

int kr_template_new(const char *source, size_t n, kr_template **ret_template, kr_error *err) {
  kr_jctx c = {.arena = {.limit = KR_J_COMPILE_MEMORY}, .steps = 16 * (int64_t)KR_J_MAX_SOURCE};
  kr_template *t = kr_alloc(1, sizeof *t);
  if (!t) return kr_fail_memory(err, "chat template");
  if (!kr_jparse(&c, source, n, t)) {
    int code = report(&c, err);
    kr_jarena_free(&c.arena);
    kr_free(t);
    return code;
  }
  t->arena = c.arena;
  *ret_template = t;
  return KR_OK;
}

void kr_template_free(kr_template *t) {
  if (!t) return;
  kr_jarena_free(&t->arena);
  kr_free(t);
}

/* ---- the conversation -------------------------------------------------------------------------
 */

static bool bad_request(kr_jctx *c, const char *what) {
  return kr_jfail_code(c, KR_E_ARGUMENT, "%s", what);
}

static bool add(kr_jctx *c, kr_jdict *to, const char *name, kr_jvalue value) {
  kr_jvalue key;
  return kr_jstring_text(c, name, &key) && kr_jdict_set(c, to, key, value);
}

/* A message without its members that are null. Reasoning, whatever it is called, is put under
 * reasoning_content, and under thinking where that is not there. */
static bool prepare_message(kr_jctx *c, const kr_jdict *from, kr_jdict *to) {
  static const char *const names[] = {"reasoning_content", "thinking", "reasoning"};
  kr_jvalue reasoning = kr_jmissing();
  for (size_t i = 0; i < 3; i++) {
    if (!kr_jdict_find(c, from, names[i], &reasoning)) return false;
    if (reasoning.type != KR_J_MISSING && reasoning.type != KR_J_NONE) break;
    reasoning = kr_jmissing();
  }
  if (reasoning.type != KR_J_MISSING && !add(c, to, "thinking", reasoning)) return false;
  for (size_t i = 0; i < from->n; i++) {
    const kr_jentry *e = &from->entries[i];
    if (e->value.type != KR_J_NONE && !kr_jdict_set(c, to, e->key, e->value)) return false;
  }
  return reasoning.type == KR_J_MISSING || add(c, to, "reasoning_content", reasoning);
}

static bool prepare_messages(kr_jctx *c, kr_jvalue *messages) {
  if (messages->type != KR_J_LIST) return bad_request(c, "\"messages\" must be an array");
  kr_jlist *list = messages->list, *prepared = kr_jlist_new(c, list->n);
  if (!prepared) return false;
  if (!list->n) return bad_request(c, "\"messages\" must hold at least one message");
  for (size_t i = 0; i < list->n; i++) {
    kr_jdict *message = kr_jdict_new(c);
    if (list->items[i].type != KR_J_DICT) return bad_request(c, "each message must be an object");
    if (!message || !prepare_message(c, list->items[i].dict, message) ||
        !kr_jlist_add(c, prepared, kr_jobject(KR_J_DICT, message)))
      return false;
  }
  messages->list = prepared;
  return true;
}

/* null, or an array of objects. */
static bool check_objects(kr_jctx *c, kr_jvalue v, const char *what) {
  if (v.type == KR_J_NONE) return true;
  bool ok = v.type == KR_J_LIST;
  for (size_t i = 0; ok && i < v.list->n; i++) ok = v.list->items[i].type == KR_J_DICT;
  return ok || bad_request(c, what);
}

typedef struct request {
  kr_jdict *members;
  const kr_jdict *variables; /* "kwargs", or NULL */
  kr_jvalue messages, tools, documents, add_generation_prompt;
  const char *now;
} request;

/* A member, or absent where it is missing or null. */
static bool member(kr_jctx *c, const request *q, const char *name, kr_jvalue absent,
                   kr_jvalue *ret) {
  if (!kr_jdict_find(c, q->members, name, ret)) return false;
  if (ret->type == KR_J_MISSING || ret->type == KR_J_NONE) *ret = absent;
  return true;
}

static bool read_request(kr_jctx *c, const char *text, size_t n, request *q) {
  kr_jvalue whole, variables, now;
  *q = (request){0};
  if (!kr_jread_json(c, text, n, &whole)) return false;
  if (whole.type != KR_J_DICT) return bad_request(c, "a chat must be a JSON object");
  q->members = whole.dict;
  if (!member(c, q, "messages", kr_jnone(), &q->messages) ||
      !member(c, q, "tools", kr_jnone(), &q->tools) ||
      !member(c, q, "documents", kr_jnone(), &q->documents) ||
      !member(c, q, "add_generation_prompt", kr_jbool(false), &q->add_generation_prompt) ||
      !member(c, q, "kwargs", kr_jnone(), &variables) || !member(c, q, "now", kr_jnone(), &now))
    return false;
  if (variables.type != KR_J_NONE && variables.type != KR_J_DICT)
    return bad_request(c, "\"kwargs\" must be an object");
  if (variables.type == KR_J_DICT) q->variables = variables.dict;
  if (now.type != KR_J_NONE) { /* ended by a zero byte */
    char *copy = now.type == KR_J_STRING ? kr_jalloc(c, now.s->n + 1, 1) : NULL;
    if (now.type != KR_J_STRING) return bad_request(c, "\"now\" must be a string");
    if (!copy) return false;
    memcpy(copy, now.s->p, now.s->n);
    q->now = copy;
  }
  return prepare_messages(c, &q->messages) &&
         check_objects(c, q->tools, "\"tools\" must be an array of objects") &&
         check_objects(c, q->documents, "\"documents\" must be an array of objects");
}

/* What a name means at the top of the template; KR_J_MISSING if nothing. */
static bool find_variable(kr_jctx *c, const request *q, const kr_jstring *name, kr_jvalue *ret) {
  static const char *const tokens[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                       "pad_token", "cls_token", "mask_token"};
  const struct {
    const char *name;
    kr_jvalue value;
  } given[] = {{"messages", q->messages},
               {"tools", q->tools},
               {"documents", q->documents},
               {"add_generation_prompt", q->add_generation_prompt}};
  *ret = kr_jmissing();
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    if (kr_jequals(name, given[i].name)) return *ret = given[i].value, true;
  kr_jvalue key = kr_jobject(KR_J_STRING, (void *)(uintptr_t)name);
  if (q->variables && !kr_jdict_get(c, q->variables, key, ret)) return false;
  if (ret->type != KR_J_MISSING) return true;
  for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
    if (kr_jequals(name, tokens[i])) return member(c, q, tokens[i], kr_jmissing(), ret);
  const kr_jbuiltin *global = kr_jglobal_find(name->p, name->n);
  if (global) *ret = kr_jobject(KR_J_FUNCTION, (void *)(uintptr_t)global);
  return true;
}

/* ---- rendering --------------------------------------------------------------------------------
 */

static bool render(kr_jctx *c, const kr_template *t, const char *text, size_t n) {
  request q;
  kr_jrun r = {.c = c, .t = t};
  if (!read_request(c, text, n, &q)) return false;
  r.now = q.now;
  r.top = kr_jalloc(c, (size_t)t->n_symbols + 1, sizeof *r.top);
  if (!r.top) return false;
  for (uint32_t i = 0; i < t->n_symbols; i++)
    if (!t->hidden[i] && !find_variable(c, &q, t->symbols[i], &r.top[i])) return false;
  return kr_jexec(&r, t->body) != KR_J_FAILED && kr_jout(c, "", 1);
}

int kr_template_render(const kr_template *t, const char *chat, size_t n, char **ret_text,
                       size_t *ret_n, kr_error *err) {
  if (n > SIZE_MAX / KR_J_STEP_FACTOR / 8)
    return kr_fail(err, KR_E_ARGUMENT, "a chat that is too large");
  kr_jctx c = {.arena = {.limit = KR_J_RENDER_MEMORY + n * KR_J_MEMORY_FACTOR},
               .steps = KR_J_RENDER_STEPS + (int64_t)n * KR_J_STEP_FACTOR};
  int code = render(&c, t, chat, n) ? KR_OK : report(&c, err);
  kr_jarena_free(&c.arena);
  if (code) {
    kr_array_free(c.out);
    return code;
  }
  *ret_text = c.out;
  if (ret_n) *ret_n = c.n_out - 1;
  return KR_OK;
}

void kr_text_free(char *text) {
  kr_array_free(text);
}
