#include "run_options.h"
#include "front_error.h"
#include "front_parse.h"
#include "run_prompt.h"
#include "run_template.h"
#include <string.h>

static kr_run_options options;

/* Values as they were given. */
static struct {
  char **eos, **stops;
  char *text, *file, *tokens, *positions, *system, *dump_logits, *template_file;
  GPtrArray *rest;   /* the model and the prompt, of char * */
  char *chat;        /* the name behind --chat, or NULL */
  const char *after; /* what stood behind it and is no name, so part of the rest; or NULL */
  gboolean has_chat;
} given;

static gboolean take_rest(const char *name, const char *value, gpointer data, GError **error) {
  (void)name, (void)data, (void)error;
  g_ptr_array_add(given.rest, g_strdup(value));
  return TRUE;
}

/* --chat's name may be left out. GOption hands over what stands behind it all the same: if that is
 * no name, it is the model or a message. */
static gboolean take_chat(const char *name, const char *value, gpointer data, GError **error) {
  (void)data;
  given.has_chat = TRUE;
  if (!value) return TRUE;
  g_free(given.chat);
  given.chat = NULL;
  if (kr_run_template_is_name(value)) return given.chat = g_strdup(value), TRUE;
  take_rest(name, value, data, error);
  given.after = g_ptr_array_index(given.rest, given.rest->len - 1);
  return TRUE;
}

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
    {"chat", 0, G_OPTION_FLAG_OPTIONAL_ARG | G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK,
     (gpointer)take_chat,
     "Hold a conversation: one message per line, or the prompt alone. NAME is a template; auto, "
     "the "
     "default, is the model's own",
     "NAME"},
    {"template", 0, 0, G_OPTION_ARG_FILENAME, &given.template_file,
     "Use this chat template, a Jinja source", "FILE"},
    {"system", 0, 0, G_OPTION_ARG_FILENAME, &given.system, "System message for --chat", "TEXT"},
    {"hide-thinking", 0, 0, G_OPTION_ARG_NONE, &options.hide_thinking,
     "Leave reasoning (<think>) out of what --chat prints", NULL},
    {"no-echo", 0, 0, G_OPTION_ARG_NONE, &options.no_echo, "Do not print the prompt", NULL},
    {"ids", 0, 0, G_OPTION_ARG_NONE, &options.ids, "Print token ids instead of text", NULL},
    {"dump-logits", 0, 0, G_OPTION_ARG_FILENAME, &given.dump_logits,
     "Write the logits of every prompt token, f32 [n_tokens][vocab], and exit", "FILE"},
    {"fingerprint", 0, 0, G_OPTION_ARG_NONE, &options.fingerprint,
     "Report the SHA-256 of all logits of the run, to compare machines", NULL},
    {"profile", 0, 0, G_OPTION_ARG_NONE, &options.profile, "Report where the time went", NULL},
    {G_OPTION_REMAINING, 0, G_OPTION_FLAG_FILENAME, G_OPTION_ARG_CALLBACK, (gpointer)take_rest,
     NULL, NULL},
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

static gboolean fail_name(const char *name, GError **error) {
  g_autofree char *names = kr_run_template_names();
  return kr_front_fail(error, KR_EXIT_USAGE, "option --chat: '%s' is not a template (%s)", name,
                       names);
}

/* argv: as it was given. --chat=NAME is meant as a name, whatever NAME is. */
static gboolean read_chat(char **argv, GError **error) {
  if (!given.has_chat) return TRUE;
  options.chat_template = given.chat ? given.chat : "auto";
  if (!given.after) return TRUE;
  g_autofree char *joined = g_strconcat("--chat=", given.after, NULL);
  return !g_strv_contains((const char *const *)argv, joined) || fail_name(given.after, error);
}

static gboolean read_rest(GError **error) {
  GPtrArray *rest = given.rest;
  if (rest->len == 0)
    return kr_front_fail(error, KR_EXIT_USAGE, "no model given; %s --help shows the options",
                         g_get_prgname());
  g_ptr_array_add(rest, NULL);
  char **words = (char **)rest->pdata;
  options.model = words[0];
  options.text = words[1] ? g_strjoinv(" ", words + 1) : NULL;
  int sources = !!options.text + !!given.text + !!given.file + !!given.tokens;
  /* a word behind --chat that cannot be the message was to be a name */
  if (sources > 1 && given.after && given.after != options.model)
    return fail_name(given.after, error);
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
  const char *lacks = options.system          ? "--system"
                      : options.template_file ? "--template"
                      : options.hide_thinking ? "--hide-thinking"
                                              : NULL;
  if (lacks && !options.chat_template)
    return kr_front_fail(error, KR_EXIT_USAGE, "option %s needs --chat", lacks);
  if (options.chat_template && (options.tokens || options.dump_logits || options.ids))
    return kr_front_fail(error, KR_EXIT_USAGE, "option --chat does not go with %s",
                         options.tokens        ? "--tokens"
                         : options.dump_logits ? "--dump-logits"
                                               : "--ids");
  return TRUE;
}

gboolean kr_run_options_parse(int argc, char **argv, const kr_run_options **ret_options,
                              GError **error) {
  GOptionContext *context = new_context();
  g_auto(GStrv) words = g_strdupv(argv);
  given.rest = g_ptr_array_new();
  gboolean ok = kr_front_parse(context, &argc, &argv, error) &&
                kr_front_int32("-n", given.positions, 1, G_MAXINT32, &options.positions, error) &&
                read_chat(words, error) && read_rest(error) && read_ids(error) && read_texts(error);
  g_option_context_free(context);
  options.dump_logits = given.dump_logits;
  options.template_file = given.template_file;
  if (!ok || !check_together(error)) return FALSE;
  *ret_options = &options;
  return TRUE;
}
