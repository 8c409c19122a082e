/* Calls: of macros, functions and methods. */
#include "text/jinja/jinja_builtin.h"

/* ---- arguments --------------------------------------------------------------------------------
 */

static bool add_positional(kr_jctx *c, kr_jargs *args, size_t *capacity, kr_jvalue v) {
  if (args->n == *capacity) {
    args->positional = kr_jgrow(c, args->positional, args->n, sizeof v, args->n + 1, capacity);
    if (!args->positional) return false;
  }
  args->positional[args->n++] = v;
  return kr_jcharge(c, 0);
}

bool kr_jargs_named(kr_jctx *c, kr_jargs *args, kr_jstring *name, kr_jvalue value) {
  for (size_t i = 0; i < args->n_named; i++) {
    const kr_jstring *other = args->named[i].name;
    if (other->n == name->n && !memcmp(other->p, name->p, name->n))
      return kr_jfail(c, "TypeError", "got multiple values for keyword argument '%.*s'",
                      (int)(name->n < 80 ? name->n : 80), name->p);
  }
  if ((args->n_named & (args->n_named - 1)) == 0) { /* the room is the next power of two */
    size_t capacity = args->n_named;
    args->named =
        kr_jgrow(c, args->named, args->n_named, sizeof *args->named, args->n_named + 1, &capacity);
    if (!args->named) return false;
  }
  args->named[args->n_named].name = name;
  args->named[args->n_named++].value = value;
  return kr_jcharge(c, args->n_named * 16);
}

static bool add_star(kr_jctx *c, kr_jargs *args, size_t *capacity, kr_jvalue v) {
  kr_jiterator it;
  kr_jvalue item;
  if (!kr_jiterate(c, v, &it)) return false;
  for (;;) {
    if (!kr_jnext(c, &it, &item)) return false;
    if (item.type == KR_J_MISSING) return true;
    if (!add_positional(c, args, capacity, item)) return false;
  }
}

static bool add_stars(kr_jctx *c, kr_jargs *args, kr_jvalue v) {
  if (v.type != KR_J_DICT)
    return kr_jfail(c, "TypeError", "argument after ** must be a mapping, not %s",
                    kr_jtype_name(v));
  for (size_t i = 0; i < v.dict->n; i++) {
    if (v.dict->entries[i].key.type != KR_J_STRING)
      return kr_jfail(c, "TypeError", "keywords must be strings");
    if (!kr_jargs_named(c, args, v.dict->entries[i].key.s, v.dict->entries[i].value)) return false;
  }
  return true;
}

bool kr_jeval_args(kr_jrun *r, const kr_jnode *call, kr_jargs *ret) {
  size_t capacity = 0;
  *ret = (kr_jargs){0};
  for (uint32_t i = 0; i < call->n; i++) {
    const kr_jnode *argument = call->list[i];
    kr_jvalue v;
    if (!kr_jeval(r, argument->a, &v)) return false;
    bool ok = argument->op == '*'   ? add_star(r->c, ret, &capacity, v)
              : argument->op == 'p' ? add_stars(r->c, ret, v)
              : argument->op == '=' ? kr_jargs_named(r->c, ret, argument->value.s, v)
                                    : add_positional(r->c, ret, &capacity, v);
    if (!ok) return false;
  }
  return true;
}

/* ---- builtins ---------------------------------------------------------------------------------
 */

const kr_jbuiltin *kr_jbuiltin_find(const kr_jbuiltin *table, const char *name, size_t n) {
  for (; table->name; table++)
    if (strlen(table->name) == n && !memcmp(table->name, name, n)) return table;
  return NULL;
}

/* The place of a name in a list with blanks between, or -1; "!" is no name. */
static int find_parameter(const char *list, const kr_jstring *name) {
  int at = 0;
  while (*list) {
    size_t n = strcspn(list, " ");
    bool mark = n == 1 && *list == '!';
    if (!mark && n == name->n && !memcmp(list, name->p, n)) return at;
    at += !mark;
    list += n + (list[n] == ' ');
  }
  return -1;
}

static int count_parameters(const char *list, int *ret_needed) {
  int n = 0;
  *ret_needed = 0;
  while (*list) {
    size_t k = strcspn(list, " ");
    if (k == 1 && *list == '!')
      *ret_needed = n;
    else
      n++;
    list += k + (list[k] == ' ');
  }
  return n;
}

bool kr_jbuiltin_call(kr_jrun *r, const kr_jbuiltin *b, kr_jvalue self, const kr_jargs *args,
                      kr_jvalue *ret) {
  kr_jvalue arg[KR_J_MAX_PARAMETERS] = {{0}};
  int needed;
  if (!b->call)
    return kr_jfail_code(r->c, KR_E_UNSUPPORTED, "'%s' is not supported in chat templates",
                         b->name);
  if (b->parameters[0] == '*') return b->call(r, self, NULL, args, ret);
  int n = count_parameters(b->parameters, &needed);
  if (args->n > (size_t)n)
    return kr_jfail(r->c, "TypeError", "%s() takes at most %d arguments (%zu given)", b->name, n,
                    args->n);
  for (size_t i = 0; i < args->n; i++) arg[i] = args->positional[i];
  for (size_t i = 0; i < args->n_named; i++) {
    const kr_jstring *name = args->named[i].name;
    int at = find_parameter(b->parameters, name), shown = (int)(name->n < 80 ? name->n : 80);
    if (at < 0)
      return kr_jfail(r->c, "TypeError", "%s() got an unexpected keyword argument '%.*s'", b->name,
                      shown, name->p);
    if (arg[at].type != KR_J_MISSING)
      return kr_jfail(r->c, "TypeError", "%s() got multiple values for argument '%.*s'", b->name,
                      shown, name->p);
    arg[at] = args->named[i].value;
  }
  for (int i = 0; i < needed; i++)
    if (arg[i].type == KR_J_MISSING)
      return kr_jfail(r->c, "TypeError", "%s() is missing a required argument", b->name);
  return b->call(r, self, arg, args, ret);
}

/* ---- macros -----------------------------------------------------------------------------------
 */

const kr_jstring *kr_jmacro_name(const kr_jmacro *macro) {
  return macro->node->flag ? NULL : macro->node->value.s;
}

bool kr_jmacro_attribute(kr_jctx *c, const kr_jmacro *macro, const char *name, kr_jvalue *ret) {
  const kr_jnode *node = macro->node;
  *ret = kr_jmissing();
  if (!strcmp(name, "name"))
    *ret = node->flag ? kr_jnone() : node->value;
  else if (!strcmp(name, "catch_kwargs"))
    *ret = kr_jbool(node->op & KR_J_WANTS_KWARGS);
  else if (!strcmp(name, "catch_varargs"))
    *ret = kr_jbool(node->op & KR_J_WANTS_VARARGS);
  else if (!strcmp(name, "caller"))
    *ret = kr_jbool(node->op & KR_J_WANTS_CALLER);
  else if (!strcmp(name, "arguments")) {
    kr_jlist *names = kr_jlist_new(c, node->n);
    if (!names) return false;
    for (uint32_t i = 0; i < node->n; i++)
      if (!kr_jlist_add(c, names, node->list[i]->value)) return false;
    *ret = kr_jobject(KR_J_TUPLE, names);
  }
  return true;
}

static bool fail_macro(kr_jrun *r, const kr_jmacro *macro, const char *what) {
  const kr_jstring *name = kr_jmacro_name(macro);
  int n = name ? (int)(name->n < 80 ? name->n : 80) : 6;
  return kr_jfail(r->c, "TypeError", "macro '%.*s' %s", n, name ? name->p : "caller", what);
}

/* The named argument, which is marked as taken; KR_J_MISSING if there is none. */
static kr_jvalue take_named(const kr_jargs *args, bool *taken, const kr_jstring *name) {
  for (size_t i = 0; i < args->n_named; i++) {
    const kr_jstring *other = args->named[i].name;
    if (taken[i] || other->n != name->n || memcmp(other->p, name->p, name->n)) continue;
    taken[i] = true;
    return args->named[i].value;
  }
  return kr_jmissing();
}

/* caller, kwargs and varargs, where the macro speaks of them. */
static bool set_rest(kr_jrun *r, kr_jmacro *macro, const kr_jargs *args, bool *taken) {
  const kr_jnode *node = macro->node;
  kr_jdict *rest = kr_jdict_new(r->c);
  kr_jlist *more = kr_jlist_new(r->c, 0);
  kr_jvalue caller;
  if (!rest || !more) return false;
  bool explicit = false;
  for (uint32_t i = 0; i < node->n; i++)
    explicit = explicit || node->list[i]->symbol == KR_J_SYMBOL_CALLER;
  if (node->op & KR_J_WANTS_CALLER && !explicit) {
    caller = take_named(args, taken, r->t->symbols[KR_J_SYMBOL_CALLER]);
    if ((caller.type == KR_J_MISSING || caller.type == KR_J_NONE) &&
        !kr_jundefined_hint(r->c, "No caller defined", &caller))
      return false;
    if (!kr_jset(r, KR_J_SYMBOL_CALLER, caller)) return false;
  }
  for (size_t i = 0; i < args->n_named; i++) {
    if (taken[i]) continue;
    if (!(node->op & KR_J_WANTS_KWARGS))
      return fail_macro(r, macro, "was given a keyword argument that it does not take");
    if (!kr_jdict_set(r->c, rest, kr_jobject(KR_J_STRING, args->named[i].name),
                      args->named[i].value))
      return false;
  }
  if (args->n > node->n && !(node->op & KR_J_WANTS_VARARGS))
    return fail_macro(r, macro, "was given too many arguments");
  for (size_t i = node->n; i < args->n; i++)
    if (!kr_jlist_add(r->c, more, args->positional[i])) return false;
  return (!(node->op & KR_J_WANTS_KWARGS) ||
          kr_jset(r, KR_J_SYMBOL_KWARGS, kr_jobject(KR_J_DICT, rest))) &&
         (!(node->op & KR_J_WANTS_VARARGS) ||
          kr_jset(r, KR_J_SYMBOL_VARARGS, kr_jobject(KR_J_TUPLE, more)));
}

/* Fills the scope of a call. Defaults see the parameters before them. */
static bool bind(kr_jrun *r, kr_jmacro *macro, const kr_jargs *args) {
  const kr_jnode *node = macro->node;
  bool *taken = kr_jalloc(r->c, args->n_named + 1, sizeof *taken);
  kr_jvalue *given = kr_jalloc(r->c, (size_t)node->n + 1, sizeof *given);
  if (!taken || !given) return false;
  for (uint32_t i = 0; i < node->n; i++)
    given[i] = i < args->n ? args->positional[i]
                           : take_named(args, taken, r->t->symbols[node->list[i]->symbol]);
  if (!set_rest(r, macro, args, taken)) return false;
  for (uint32_t i = 0; i < node->n; i++) {
    const kr_jnode *parameter = node->list[i];
    if (given[i].type == KR_J_MISSING &&
        !(parameter->a
              ? kr_jeval(r, parameter->a, &given[i])
              : kr_jundefined_hint(r->c, "a parameter of a macro was not provided", &given[i])))
      return false;
    if (!kr_jset(r, parameter->symbol, given[i])) return false;
  }
  return true;
}

bool kr_jmacro_call(kr_jrun *r, kr_jmacro *macro, const kr_jargs *args, kr_jvalue *ret) {
  kr_jscope *back = r->scope;
  if (!kr_jscope_push(r, macro->scope)) return false;
  if (!bind(r, macro, args) || !kr_jcapture(r, macro->node->b, ret)) return false;
  kr_jscope_pop(r, back);
  return true;
}

/* ---- calling ----------------------------------------------------------------------------------
 */

static bool call_joiner(kr_jrun *r, kr_jvalue joiner, kr_jvalue *ret) {
  if (joiner.cycler->at++) return *ret = joiner.cycler->items->items[0], true;
  return kr_jstring_text(r->c, "", ret);
}

bool kr_jcall(kr_jrun *r, kr_jvalue callee, const kr_jargs *args, kr_jvalue *ret) {
  switch (callee.type) {
  case KR_J_UNDEFINED:
    return kr_jundefined_fail(r->c, callee.undefined);
  case KR_J_MACRO:
    return kr_jmacro_call(r, callee.macro, args, ret);
  case KR_J_LOOP:
    return kr_jloop_call(r, callee.loop, args, ret);
  case KR_J_JOINER:
    return call_joiner(r, callee, ret);
  case KR_J_FUNCTION:
    return kr_jbuiltin_call(r, callee.function, kr_jnone(), args, ret);
  case KR_J_METHOD:
    return kr_jbuiltin_call(r, callee.method->builtin, callee.method->self, args, ret);
  default:
    return kr_jfail(r->c, "TypeError", "'%s' object is not callable", kr_jtype_name(callee));
  }
}
