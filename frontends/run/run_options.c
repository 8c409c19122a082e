#include "run_options.h"
#include "front_error.h"
#include "run_prompt.h"
#include <string.h>

static kr_run_options options;

/* Values as they were given. */
static struct {
  char **rest, **eos, **stops;
  char *text, *file, *tokens, *positions, *system, *dump_logits;
} given;

static const GOptionEntry prompt_entries[] = {
    {"prompt", 'i', 0, G_OPTION_ARG_FILENAME, &given.text, "The prompt", "TEXT"},
    {"file", 'f', 0, G_OPTION_ARG_FILENAME, &given.file,
     "Read the prompt from a file, byte for byte (- is standard input)", "FILE"},
    {"tokens", 0, 0, G_OPTION_ARG_FILENAME, &given.tokens, "The prompt as token ids: 1,450,3681",
     "LIST"},
    {"escape", 'e', 0, G_OPTION_ARG_NONE, &options.escape,
     "Read \\n \\t \\r \\\\ \\\" \\' \\xNN in the prompt, --system and --stop", NULL},
    {"positions", 'n', 0, G_OPTION_ARG_FILENAME, &given.positions,
     "Stop at N tokens, prompt included; with --chat, of each reply (default: the text's end)",
     "N"},
    {"stop", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.stops,
     "Stop before this text; may be given again", "TEXT"},
    {"eos", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.eos,
     "Stop at this token too; may be given again", "ID"},
    {"ignore-eos", 0, 0, G_OPTION_ARG_NONE, &options.ignore_eos,
     "Go on past the model's own end of text", NULL},
    {"chat", 0, 0, G_OPTION_ARG_NONE, &options.chat,
     "Hold a conversation (ChatML): one message per line, or the prompt alone", NULL},
    {"system", 0, 0, G_OPTION_ARG_FILENAME, &given.system, "System prompt for --chat", "TEXT"},
    {"no-echo", 0, 0, G_OPTION_ARG_NONE, &options.no_echo, "Do not print the prompt", NULL},
    {"ids", 0, 0, G_OPTION_ARG_NONE, &options.ids, "Print token ids instead of text", NULL},
    {"dump-logits", 0, 0, G_OPTION_ARG_FILENAME, &given.dump_logits,
     "Write the logits of every prompt token, f32 [n_tokens][vocab], and exit", "FILE"},
    {"fingerprint", 0, 0, G_OPTION_ARG_NONE, &options.fingerprint,
     "Report the SHA-256 of all logits of the run, to compare machines", NULL},
    {"profile", 0, 0, G_OPTION_ARG_NONE, &options.profile, "Report where the time went", NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &given.rest, NULL, NULL},
    {0},
};

static GOptionContext *new_context(void) {
  GOptionContext *context = g_option_context_new("MODEL [PROMPT...]");
  g_option_context_set_summary(
      context, "Runs a language model (a GGUF file) on this CPU and streams what it says.\n"
               "The prompt is an argument, -i, -f, --tokens, or standard input.");
  g_option_context_set_description(
      context, "Exit codes: 0 success, 1 load or runtime error, 2 usage, 3 the CPU lacks a\n"
               "feature that was asked for, 130 ended by Ctrl-C. --help-all shows all options.\n");
  g_option_context_add_main_entries(context, prompt_entries, NULL);
  g_option_context_add_main_entries(context, kr_front_version_entries, NULL);
  g_option_context_add_group(context, kr_front_sampling_group(&options.sampling));
  g_option_context_add_group(context, kr_front_engine_group(&options.engine));
  g_option_context_add_group(context, kr_front_backend_group(&options.backend));
  return context;
}

static gboolean read_rest(GError **error) {
  char **rest = given.rest;
  if (!rest || !rest[0])
    return kr_front_fail(error, KR_EXIT_USAGE, "no model given; %s --help shows the options",
                         g_get_prgname());
  options.model = rest[0];
  options.text = rest[1] ? g_strjoinv(" ", rest + 1) : NULL;
  int sources = !!options.text + !!given.text + !!given.file + !!given.tokens;
  if (sources > 1)
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "more than one of -i, -f, --tokens and a prompt after the model");
  if (!options.text) options.text = given.text;
  options.file = given.file;
  return TRUE;
}

static gboolean read_ids(GError **error) {
  options.eos = g_array_new(FALSE, FALSE, sizeof(int32_t));
  for (char **eos = given.eos; eos && *eos; eos++) {
    int32_t id = 0;
    if (!kr_front_int32("--eos", *eos, 0, G_MAXINT32, &id, error)) return FALSE;
    g_array_append_val(options.eos, id);
  }
  if (!given.tokens) return TRUE;
  options.tokens = kr_run_parse_tokens(given.tokens, error);
  return options.tokens != NULL;
}

static gboolean read_texts(GError **error) {
  options.system = given.system;
  options.stops = given.stops;
  for (char **stop = given.stops; stop && *stop; stop++) {
    if (options.escape) kr_run_unescape(*stop, strlen(*stop));
    if (!**stop) return kr_front_usage(error, "--stop", "", "a text of at least one character");
  }
  if (options.escape && given.system) kr_run_unescape(given.system, strlen(given.system));
  return TRUE;
}

/* Options that mean nothing together are refused: one of them would be ignored in silence. */
static gboolean check_together(GError **error) {
  if (options.system && !options.chat)
    return kr_front_fail(error, KR_EXIT_USAGE, "option --system needs --chat");
  if (options.chat && (options.tokens || options.dump_logits || options.ids))
    return kr_front_fail(error, KR_EXIT_USAGE, "option --chat does not go with %s",
                         options.tokens        ? "--tokens"
                         : options.dump_logits ? "--dump-logits"
                                               : "--ids");
  return TRUE;
}

gboolean kr_run_options_parse(int argc, char **argv, const kr_run_options **ret_options,
                              GError **error) {
  GOptionContext *context = new_context();
  gboolean ok = g_option_context_parse(context, &argc, &argv, error) &&
                kr_front_int32("-n", given.positions, 1, G_MAXINT32, &options.positions, error) &&
                read_rest(error) && read_ids(error) && read_texts(error);
  g_option_context_free(context);
  options.dump_logits = given.dump_logits;
  if (!ok || !check_together(error)) return FALSE;
  *ret_options = &options;
  return TRUE;
}
