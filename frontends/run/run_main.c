/* krafla-run: runs a model and streams what it says. */
#include "front_error.h"
#include "front_signals.h"
#include "run_chat.h"
#include "run_prompt.h"
#include <stdio.h>

/* Prints the prompt, as text that was given or as tokens. */
static gboolean echo(kr_run *run, const GString *text, const GArray *ids, GError **error) {
  if (run->options->no_echo) return TRUE;
  if (text && !run->options->ids) return kr_run_text_echo(&run->text, text->str, text->len, error);
  for (guint i = 0; i < ids->len; i++)
    if (!kr_run_text_echo_token(&run->text, g_array_index(ids, int32_t, i), error)) return FALSE;
  return TRUE;
}

/* Goes on from the prompt. *ret_end is left alone if nothing was asked for but logits. */
static gboolean complete(kr_run *run, const GString *text, kr_run_end *ret_end, GError **error) {
  const kr_run_options *o = run->options;
  g_autoptr(GArray) ids = kr_run_prompt_tokens(o, text, run->front.vocab, error);
  if (!ids) return FALSE;
  if (o->positions > 0 && !o->dump_logits && (guint)o->positions < ids->len)
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "option -n: '%d' is less than the %u tokens of the prompt, which count",
                         o->positions, ids->len);
  run->text.quiet = o->dump_logits != NULL;
  if (!echo(run, text, ids, error) ||
      !kr_run_prompt(run, (const int32_t *)(void *)ids->data, ids->len, error))
    return FALSE;
  if (o->dump_logits) return TRUE;
  gint64 limit = o->positions > 0 ? o->positions - (gint64)ids->len : G_MAXINT64;
  return kr_run_reply(run, limit, ret_end, error) && kr_run_text_end(&run->text, error);
}

static gboolean run_model(kr_run *run, const kr_run_options *options, GError **error) {
  g_autoptr(GString) text = NULL;
  kr_run_end end = KR_END_TOKEN;
  kr_front_signals_init(options->model);
  if (!kr_run_prompt_text(options, &text, error) || !kr_run_open(run, options, error) ||
      !kr_run_check_ids(options, run->front.vocab, error))
    return FALSE;
  gboolean ok =
      options->chat_template ? kr_run_converse(run, text, error) : complete(run, text, &end, error);
  if (!ok && run->text.any) kr_run_text_end(&run->text, NULL);
  if (ok && end == KR_END_INTERRUPTED)
    ok = kr_front_fail(error, KR_EXIT_INTERRUPTED, "ended by Ctrl-C");
  if (ok && end == KR_END_CONTEXT) kr_run_note_full(run);
  ok = ok && kr_run_logits_finish(&run->logits, error);
  if (ok || kr_front_interrupted()) kr_run_show_statistics(run);
  return ok;
}

int main(int argc, char **argv) {
  const kr_run_options *options;
  kr_run run = {0};
  GError *error = NULL;
  g_set_prgname("krafla-run");
  gboolean ok =
      kr_run_options_parse(argc, argv, &options, &error) && run_model(&run, options, &error);
  kr_run_close(&run);
  return ok ? 0 : kr_front_report(error);
}
