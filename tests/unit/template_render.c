/* Renders chat templates for the scripts beside it. Standard input is a sequence of frames, a
 * letter and a number of bytes on a line, then the bytes: T is a template, C a chat to render with
 * it. For each C the answer is a frame: O and the text, or E and the error message; so for a T that
 * does not compile its Cs give the message. */
#include <krafla/krafla.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

static void answer(char letter, const char *text, size_t n) {
  printf("%c %zu\n", letter, n);
  fwrite(text, 1, n, stdout);
}

static char *read_bytes(size_t n) {
  char *bytes = malloc(n + 1);
  if (!bytes || fread(bytes, 1, n, stdin) != n) exit(1);
  return bytes;
}

int main(void) {
  char letter;
  size_t n;
  kr_template *current = NULL;
  kr_error failure = {0};
#if defined(_WIN32) /* bytes as they are */
  _setmode(0, _O_BINARY), _setmode(1, _O_BINARY);
#endif
  while (scanf("%c %zu", &letter, &n) == 2 && getchar() == '\n') {
    char *bytes = read_bytes(n), *text;
    size_t n_text;
    bytes[n] = '\0';
    if (letter == 'T' || letter == 'N') {
      const char *source = letter == 'T' ? bytes : kr_chat_template_named(bytes, NULL);
      kr_template_free(current);
      current = NULL;
      if (!source)
        snprintf(failure.message, sizeof failure.message, "no template has this name");
      else if (kr_template_new(source, letter == 'T' ? n : strlen(source), &current, &failure) !=
               KR_OK)
        current = NULL;
    } else if (current &&
               kr_template_render(current, bytes, n, &text, &n_text, &failure) == KR_OK) {
      answer('O', text, n_text);
      kr_text_free(text);
    } else {
      answer('E', failure.message, strlen(failure.message));
    }
    fflush(stdout);
    free(bytes);
  }
  kr_template_free(current);
  return 0;
}
