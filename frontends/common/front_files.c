#include "front_files.h"
#include "front_error.h"
#include "front_signals.h"
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(G_OS_WIN32)
#include <io.h>
#include <windows.h>
#define fsync     _commit
#define O_CLOEXEC _O_NOINHERIT
#else
#define O_BINARY 0
#endif

struct kr_front_file {
  char *name;      /* of the result */
  char *temporary; /* NULL: name is written directly */
  char *buffer;    /* of used bytes */
  gsize used;
  int fd;
};

enum { BUFFER_BYTES = 1 << 18 };

static gboolean fail_errno(GError **error, const char *name, int code) {
  return kr_front_fail(error, KR_EXIT_FAILED, "%s: %s", name, g_strerror(code));
}

/* limit bytes at the most */
static GString *read_limited(int fd, const char *name, gsize limit, GError **error) {
  GString *text = g_string_new(NULL);
  char *block = g_malloc(1 << 16);
  for (;;) {
    ssize_t n = read(fd, block, 1 << 16);
    if (n > 0 && (gsize)n <= limit - text->len) {
      g_string_append_len(text, block, n);
      continue;
    }
    if (n > 0) {
      g_free(block);
      g_string_free(text, TRUE);
      kr_front_fail(error, KR_EXIT_FAILED, "%s: is larger than %" G_GSIZE_FORMAT " bytes", name,
                    limit);
      return NULL;
    }
    if (n < 0 && errno == EINTR && !kr_front_interrupted()) continue;
    int code = n < 0 ? errno : 0;
    g_free(block);
    if (code == 0) return text;
    g_string_free(text, TRUE);
    if (code == EINTR)
      kr_front_fail(error, KR_EXIT_INTERRUPTED, "%s: interrupted", name);
    else
      fail_errno(error, name, code);
    return NULL;
  }
}

GString *kr_front_read_fd(int fd, const char *name, GError **error) {
  return read_limited(fd, name, G_MAXSSIZE, error);
}

GString *kr_front_read_file(const char *path, GError **error) {
  if (strcmp(path, "-") == 0) return kr_front_read_fd(STDIN_FILENO, "standard input", error);
  return kr_front_read_some(path, G_MAXSSIZE, error);
}

GString *kr_front_read_some(const char *path, gsize limit, GError **error) {
  int fd = g_open(path, O_RDONLY | O_CLOEXEC | O_BINARY, 0);
  if (fd < 0) {
    fail_errno(error, path, errno);
    return NULL;
  }
  GString *text = read_limited(fd, path, limit, error);
  close(fd);
  return text;
}

int kr_front_write_fd(int fd, const void *bytes, gsize n) {
  const char *p = bytes;
  while (n > 0) {
    ssize_t done = write(fd, p, MIN(n, 1 << 30));
    if (done < 0 && errno == EINTR) continue;
#if defined(G_OS_WIN32) /* a pipe that nobody reads any more */
    gboolean closed = _doserrno == ERROR_NO_DATA || _doserrno == ERROR_PIPE_NOT_CONNECTED;
    if (done < 0 && errno == EINVAL && closed) return EPIPE;
#endif
    if (done < 0) return errno;
    p += done, n -= (gsize)done;
  }
  return 0;
}

static void file_free(kr_front_file *file) {
  if (file->fd >= 0) close(file->fd);
  g_free(file->name);
  g_free(file->temporary);
  g_free(file->buffer);
  g_free(file);
}

kr_front_file *kr_front_file_new(const char *path, GError **error) {
  kr_front_file *file = g_new0(kr_front_file, 1);
  GStatBuf status;
  gboolean exists = g_stat(path, &status) == 0, direct = exists && !S_ISREG(status.st_mode);
  char *real = NULL;
#if defined(G_OS_WIN32)
  direct = direct || g_ascii_strcasecmp(path, "NUL") == 0;
#else
  /* a link keeps pointing where it did: the file behind it is replaced */
  if (exists) real = realpath(path, NULL);
#endif
  file->name = g_strdup(real ? real : path);
  free(real);
  if (direct) {
    file->fd = g_open(path, O_WRONLY | O_CLOEXEC | O_BINARY, 0);
  } else {
    file->temporary = g_strconcat(file->name, ".XXXXXX", NULL);
    file->fd = g_mkstemp_full(file->temporary, O_WRONLY | O_CLOEXEC | O_BINARY, 0666);
  }
  if (file->fd < 0) {
    fail_errno(error, path, errno);
    file_free(file);
    return NULL;
  }
  file->buffer = g_malloc(BUFFER_BYTES);
  return file;
}

static gboolean flush(kr_front_file *file, GError **error) {
  int code = kr_front_write_fd(file->fd, file->buffer, file->used);
  file->used = 0;
  return code == 0 || fail_errno(error, file->name, code);
}

gboolean kr_front_file_write(kr_front_file *file, const void *bytes, gsize n, GError **error) {
  const char *p = bytes;
  while (n > 0) {
    if (file->used == BUFFER_BYTES && !flush(file, error)) return FALSE;
    gsize part = MIN(n, BUFFER_BYTES - file->used);
    memcpy(file->buffer + file->used, p, part);
    file->used += part, p += part, n -= part;
  }
  return TRUE;
}

gboolean kr_front_file_commit(kr_front_file *file, GError **error) {
  gboolean ok = flush(file, error);
  if (ok && file->temporary && fsync(file->fd) != 0) ok = fail_errno(error, file->name, errno);
  int fd = file->fd;
  file->fd = -1;
  if (close(fd) != 0 && ok) ok = fail_errno(error, file->name, errno);
  if (ok && file->temporary && g_rename(file->temporary, file->name) != 0)
    ok = fail_errno(error, file->name, errno);
  if (!ok && file->temporary) g_unlink(file->temporary);
  file_free(file);
  return ok;
}

void kr_front_file_abandon(kr_front_file *file) {
  if (!file) return;
  close(file->fd); /* Windows keeps open files */
  file->fd = -1;
  if (file->temporary) g_unlink(file->temporary);
  file_free(file);
}
