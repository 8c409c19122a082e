/* A shared object that leaves a trace as soon as it is opened: the file that TRACE names. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void leave_trace(void) {
  const char *name = getenv("TRACE");
  FILE *file = name ? fopen(name, "w") : NULL;
  if (file) fclose(file);
}
