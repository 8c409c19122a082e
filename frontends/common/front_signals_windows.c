/* Signals on Windows: only Ctrl-C. A mapped file cannot be cut there, and a pipe that was closed is
 * a write error. */
#include "front_error.h"
#include "front_signals.h"
#include <stdlib.h>
#include <windows.h>

static volatile LONG interrupted;

/* Runs in a thread of its own. */
static BOOL WINAPI on_event(DWORD event) {
  if (event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT) return FALSE;
  if (InterlockedExchange(&interrupted, 1)) ExitProcess(KR_EXIT_INTERRUPTED);
  return TRUE;
}

void kr_front_signals_init(const char *model) {
  (void)model;
  SetConsoleCtrlHandler(on_event, TRUE);
}

void kr_front_signals_farewell(const char *text) {
  (void)text; /* consoles there are told nothing that would have to be taken back */
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
