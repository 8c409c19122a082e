#include "front_signals.h"
#include "front_error.h"
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static const char *volatile farewell = "";
static char bus_message[1024];
static size_t bus_size;

static void on_interrupt(int number) {
  (void)number;
  if (interrupted) {
    ssize_t n = write(STDOUT_FILENO, farewell, strlen(farewell));
    (void)n;
    _exit(KR_EXIT_INTERRUPTED);
  }
  interrupted = 1;
}

/* Several threads may run into the end of the file at once: the first tells and ends the program.
 */
static void on_bus(int number) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  (void)number;
  while (atomic_flag_test_and_set(&told)) pause();
  ssize_t n = write(STDERR_FILENO, bus_message, bus_size);
  (void)n;
  _exit(KR_EXIT_FAILED);
}

static void handle(int number, void (*handler)(int)) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  /* no SA_RESTART: Ctrl-C at the prompt of a conversation must end the wait for a line */
  sigaction(number, &action, NULL);
}

void kr_front_signals_init(const char *model) {
  g_autofree char *name = kr_front_printable(model, -1);
  if (strlen(name) > 900) *g_utf8_find_prev_char(name, name + 900) = '\0';
  g_snprintf(bus_message, sizeof bus_message,
             "error: %s: the file changed while it was being read\n", name);
  bus_size = strlen(bus_message);
  handle(SIGBUS, on_bus);
  handle(SIGINT, on_interrupt);
  handle(SIGPIPE, SIG_IGN);
}

void kr_front_signals_farewell(const char *text) {
  farewell = text;
}

gboolean kr_front_interrupted(void) {
  return interrupted != 0;
}

void kr_front_interrupted_clear(void) {
  interrupted = 0;
}

int kr_front_stop(void *data, double fraction) {
  (void)data, (void)fraction;
  return kr_front_interrupted();
}
