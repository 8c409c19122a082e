#include "run_commands.h"
#include "front_error.h"
#include "run_prompt.h"
#include <stdio.h>
#include <string.h>

/* argument is "" where none was given. */
typedef gboolean command_function(kr_run_chat *chat, const char *argument, GError **error);

static gboolean reset(kr_run_chat *chat, const char *argument, GError **error) {
  (void)argument, (void)error;
  guint first = kr_run_messages_have_system(chat->messages) ? 1 : 0;
  if (chat->messages->len > first)
    g_ptr_array_remove_range(chat->messages, first, chat->messages->len - first);
  fputs("note: the conversation begins anew\n", stderr);
  return TRUE;
}

static gboolean set_system(kr_run_chat *chat, const char *argument, GError **error) {
  (void)error;
  g_autofree char *text = g_strdup(argument);
  if (chat->run->options->escape) kr_run_unescape(text, strlen(text));
  kr_run_messages_set_system(chat->messages, *text ? text : NULL);
  fputs(*text ? "note: the system message is set\n" : "note: there is no system message now\n",
        stderr);
  return TRUE;
}

static gboolean save(kr_run_chat *chat, const char *argument, GError **error) {
  if (!*argument) return kr_front_fail(error, KR_EXIT_FAILED, "/save needs the name of a file");
  if (!kr_run_messages_save(chat->messages, argument, error)) return FALSE;
  g_autofree char *name = kr_front_printable(argument, -1);
  fprintf(stderr, "note: %u messages are in %s\n", chat->messages->len, name);
  return TRUE;
}

static gboolean load(kr_run_chat *chat, const char *argument, GError **error) {
  if (!*argument) return kr_front_fail(error, KR_EXIT_FAILED, "/load needs the name of a file");
  GPtrArray *messages = kr_run_messages_load(argument, error);
  if (!messages) return FALSE;
  g_ptr_array_unref(chat->messages);
  chat->messages = messages;
  fprintf(stderr, "note: the conversation has %u messages now\n", messages->len);
  return TRUE;
}

static gboolean show_statistics(kr_run_chat *chat, const char *argument, GError **error) {
  (void)argument, (void)error;
  const kr_run *run = chat->run;
  fprintf(stderr, "context: %d of %d positions, messages: %u, KV cache: %.1f MiB\n",
          kr_session_length(run->session), kr_engine_n_ctx(run->front.engine), chat->messages->len,
          (double)kr_engine_kv_bytes(run->front.engine) / 1048576);
  kr_run_chat_show_turn(chat);
  return TRUE;
}

static gboolean help(kr_run_chat *chat, const char *argument, GError **error);

static const struct {
  const char *name, *argument, *what;
  command_function *function;
} commands[] = {
    {"/reset", "", "forget the conversation, but not the system message", reset},
    {"/system", " TEXT", "set the system message; without TEXT there is none", set_system},
    {"/save", " FILE", "write the conversation to a file, as JSON", save},
    {"/load", " FILE", "go on with a conversation that was saved", load},
    {"/stats", "", "show what the context holds, and what the last turn took", show_statistics},
    {"/help", "", "show this", help},
};

static gboolean help(kr_run_chat *chat, const char *argument, GError **error) {
  (void)chat, (void)argument, (void)error;
  for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
    g_autofree char *usage = g_strconcat(commands[i].name, commands[i].argument, NULL);
    fprintf(stderr, "  %-13s  %s\n", usage, commands[i].what);
  }
  fputs("  //...          a message that begins with a slash\n"
        "  \\ at the end   continues a line\n"
        "  Ctrl-C         stops a reply; at the prompt it ends the conversation, as Ctrl-D does\n",
        stderr);
  return TRUE;
}

gboolean kr_run_is_command(const GString *line) {
  return line->str[0] == '/' && line->str[1] != '/';
}

gboolean kr_run_command(kr_run_chat *chat, const GString *line, GError **error) {
  gsize n = strcspn(line->str, " \t\n");
  for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
    if (strlen(commands[i].name) != n || strncmp(commands[i].name, line->str, n) != 0) continue;
    g_autofree char *argument = g_strstrip(g_strdup(line->str + n));
    return commands[i].function(chat, argument, error);
  }
  return kr_front_fail(error, KR_EXIT_FAILED,
                       "'%.*s' is no command; /help shows them, and // begins a message with a "
                       "slash",
                       (int)MIN(n, 40), line->str);
}
