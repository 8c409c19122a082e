/* for loops, and what templates can ask of them. */
#include "text/jinja/jinja_builtin.h"

/* The next item that the loop's condition lets through; KR_J_MISSING at the end. */
static bool pull(kr_jloop *loop, kr_jvalue *ret) {
  kr_jrun *r = loop->run;
  if (loop->drained) {
    *ret = loop->at < loop->drained->n ? loop->drained->items[loop->at++] : kr_jmissing();
    return true;
  }
  for (;;) {
    kr_jvalue passes = kr_jbool(true);
    if (!kr_jnext(r->c, &loop->it, ret)) return false;
    if (ret->type == KR_J_MISSING || !loop->node->c) return true;
    kr_jscope *back = r->scope;
    if (!kr_jscope_push(r, loop->scope) || !kr_jassign(r, loop->node->a, *ret) ||
        !kr_jeval(r, loop->node->c, &passes))
      return false;
    kr_jscope_pop(r, back);
    if (kr_jtruth(passes)) return true;
  }
}

static bool peek(kr_jloop *loop, kr_jvalue *ret) {
  if (loop->after.type == KR_J_MISSING && !pull(loop, &loop->after)) return false;
  *ret = loop->after;
  return true;
}

static bool step(kr_jloop *loop, kr_jvalue *ret) {
  *ret = loop->after;
  loop->after = kr_jmissing();
  if (ret->type == KR_J_MISSING && !pull(loop, ret)) return false;
  if (ret->type == KR_J_MISSING) return true;
  loop->index0++;
  loop->before = loop->current;
  loop->current = *ret;
  return true;
}

bool kr_jloop_next(kr_jctx *c, kr_jloop *loop, kr_jvalue *ret) {
  kr_jvalue item;
  if (!step(loop, &item)) return false;
  if (item.type == KR_J_MISSING) return *ret = item, true;
  return kr_jpair(c, item, kr_jobject(KR_J_LOOP, loop), ret);
}

/* The number of items; without one of their own they are read ahead. */
static bool find_length(kr_jctx *c, kr_jloop *loop, int64_t *ret) {
  if (loop->length < 0 && !loop->node->c && !kr_jlength(c, loop->it.of, false, &loop->length))
    return false;
  if (loop->length < 0) {
    kr_jlist *rest = kr_jlist_new(c, 8);
    kr_jvalue item;
    if (!rest) return false;
    for (;;) {
      if (!pull(loop, &item)) return false;
      if (item.type == KR_J_MISSING) break;
      if (!kr_jlist_add(c, rest, item)) return false;
    }
    loop->drained = rest, loop->at = 0;
    loop->length = (int64_t)rest->n + loop->index0 + 1 + (loop->after.type != KR_J_MISSING);
  }
  *ret = loop->length;
  return true;
}

static bool cycle(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, const kr_jargs *args,
                  kr_jvalue *ret) {
  (void)arg;
  if (!args->n) return kr_jfail(r->c, "TypeError", "no items for cycling given");
  *ret = args->positional[(uint64_t)self.loop->index0 % args->n];
  return true;
}

static bool changed(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, const kr_jargs *args,
                    kr_jvalue *ret) {
  kr_jlist *values = kr_jlist_new(r->c, args->n);
  bool same = false;
  (void)arg;
  if (!values) return false;
  for (size_t i = 0; i < args->n; i++)
    if (!kr_jlist_add(r->c, values, args->positional[i])) return false;
  kr_jvalue now = kr_jobject(KR_J_TUPLE, values);
  if (!kr_jequal(r->c, self.loop->changed, now, &same)) return false;
  self.loop->changed = now;
  *ret = kr_jbool(!same);
  return true;
}

static const kr_jbuiltin methods[] = {{"cycle", "*", cycle}, {"changed", "*", changed}, {NULL}};

bool kr_jloop_attribute(kr_jctx *c, kr_jloop *loop, const char *name, kr_jvalue *ret) {
  int64_t index0 = loop->index0, n = 0;
  *ret = kr_jmissing();
  if (!strcmp(name, "index0")) return *ret = kr_jint(index0), true;
  if (!strcmp(name, "index")) return *ret = kr_jint(index0 + 1), true;
  if (!strcmp(name, "first")) return *ret = kr_jbool(index0 == 0), true;
  if (!strcmp(name, "depth0")) return *ret = kr_jint(loop->depth0), true;
  if (!strcmp(name, "depth")) return *ret = kr_jint(loop->depth0 + 1), true;
  if (!strcmp(name, "last")) {
    kr_jvalue after;
    if (!peek(loop, &after)) return false;
    return *ret = kr_jbool(after.type == KR_J_MISSING), true;
  }
  if (!strcmp(name, "nextitem")) {
    if (!peek(loop, ret)) return false;
    return ret->type != KR_J_MISSING || kr_jundefined_hint(c, "there is no next item", ret);
  }
  if (!strcmp(name, "previtem")) {
    if (index0 == 0) return kr_jundefined_hint(c, "there is no previous item", ret);
    return *ret = loop->before, true;
  }
  bool length = !strcmp(name, "length"), left = !strcmp(name, "revindex");
  if (length || left || !strcmp(name, "revindex0")) {
    if (!find_length(c, loop, &n)) return false;
    return *ret = kr_jint(length ? n : left ? n - index0 : n - index0 - 1), true;
  }
  const kr_jbuiltin *method = kr_jbuiltin_find(methods, name, strlen(name));
  if (!method) return true;
  kr_jmethod *bound = kr_jalloc(c, 1, sizeof *bound);
  if (!bound) return false;
  *bound = (kr_jmethod){.self = kr_jobject(KR_J_LOOP, loop), .builtin = method};
  *ret = kr_jobject(KR_J_METHOD, bound);
  return true;
}

/* ---- running ----------------------------------------------------------------------------------
 */

/* A scope for one turn: the last one again, unless a macro holds it. */
static bool fresh_scope(kr_jrun *r, kr_jscope *outer) {
  if (r->scope == outer || r->scope->kept) return kr_jscope_push(r, outer);
  r->scope->n = 0;
  return true;
}

static kr_jflow run_loop(kr_jrun *r, const kr_jnode *node, kr_jscope *outer, kr_jvalue of,
                         int32_t depth0) {
  kr_jscope *back = r->scope;
  kr_jloop *loop = kr_jalloc(r->c, 1, sizeof *loop);
  kr_jflow flow = KR_J_ON;
  kr_jvalue item;
  bool completed = false; /* a turn reached its end: in Jinja that decides on else */
  if (!loop || !kr_jiterate(r->c, of, &loop->it)) return KR_J_FAILED;
  loop->node = node, loop->run = r, loop->scope = outer;
  loop->index0 = -1, loop->length = -1, loop->depth0 = depth0;
  r->scope = outer;
  while (flow == KR_J_ON || flow == KR_J_CONTINUED) {
    if (!step(loop, &item)) return KR_J_FAILED;
    if (item.type == KR_J_MISSING) break;
    if (!fresh_scope(r, outer) || !kr_jset(r, KR_J_SYMBOL_LOOP, kr_jobject(KR_J_LOOP, loop)) ||
        !kr_jassign(r, node->a, item))
      return KR_J_FAILED;
    flow = kr_jexec(r, node->list[0]);
    completed = completed || flow == KR_J_ON;
  }
  if (flow == KR_J_FAILED) return flow;
  if (r->scope != outer) kr_jscope_pop(r, back);
  r->scope = back;
  if (completed || !node->list[1]) return KR_J_ON;
  if (!kr_jscope_push(r, outer)) return KR_J_FAILED;
  flow = kr_jexec(r, node->list[1]);
  kr_jscope_pop(r, back);
  return flow;
}

kr_jflow kr_jexec_for(kr_jrun *r, const kr_jnode *node) {
  kr_jvalue of;
  if (!kr_jeval(r, node->b, &of)) return KR_J_FAILED;
  return run_loop(r, node, r->scope, of, 0);
}

bool kr_jloop_call(kr_jrun *r, kr_jloop *loop, const kr_jargs *args, kr_jvalue *ret) {
  size_t mark = r->c->n_out;
  if (!loop->node->flag)
    return kr_jfail(r->c, "TypeError",
                    "The loop must have the 'recursive' marker to be called recursively.");
  if (args->n != 1 || args->n_named)
    return kr_jfail(r->c, "TypeError", "loop() takes one argument");
  if (!kr_jenter(r->c)) return false;
  kr_jflow flow = run_loop(r, loop->node, loop->scope, args->positional[0], loop->depth0 + 1);
  kr_jleave(r->c);
  if (flow == KR_J_FAILED) return false;
  return kr_jtake(r->c, mark, ret);
}
