/* Bytes in and out: whole files, the standard streams, and results that appear only when whole. */
#ifndef KR_FRONT_FILES_H
#define KR_FRONT_FILES_H

#include <glib.h>

/* Reads what fd has left; name is for messages. NULL on failure, and when Ctrl-C is pressed. */
GString *kr_front_read_fd(int fd, const char *name, GError **error);
/* Reads a whole file; "-" is standard input. Messages name path. */
GString *kr_front_read_file(const char *path, GError **error);

/* Reads a whole file of at most limit bytes; a larger one is an error. */
GString *kr_front_read_some(const char *path, gsize limit, GError **error);

/* Writes all n bytes. Returns 0 or an errno. */
int kr_front_write_fd(int fd, const void *bytes, gsize n);

/* A result file under a temporary name in the same folder, which takes its own name when it is
 * whole. What exists and is no regular file (a pipe, /dev/null) is written directly. */
typedef struct kr_front_file kr_front_file;
kr_front_file *kr_front_file_new(const char *path, GError **error);
gboolean kr_front_file_write(kr_front_file *file, const void *bytes, gsize n, GError **error);
/* Gives the file its name; on failure it is removed. Frees file. */
gboolean kr_front_file_commit(kr_front_file *file, GError **error);
/* Removes the file and frees it; NULL is allowed. */
void kr_front_file_abandon(kr_front_file *file);

#endif
