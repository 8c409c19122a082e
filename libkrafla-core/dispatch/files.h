/* Plug-in files as the operating system sees them: files_posix.c and files_windows.c. */
#ifndef KR_DISPATCH_FILES_H
#define KR_DISPATCH_FILES_H

#include "base/system.h"
#include "dispatch/dispatch.h"

enum { KR_FILE_NAME_BYTES = 1024 }; /* longer ones are no plug-in's */

/* Calls fn with the name of each file of the folder until it gives false, which is then the
 * result; false with reason set when the folder cannot be read. */
typedef bool kr_file_fn(void *data, const char *folder, const char *name);
bool kr_each_file(const char *folder, kr_file_fn *fn, void *data, char reason[KR_REASON_BYTES]);

/* Whether the file is one that the loader may be given: of this machine, and whole. What else is
 * wrong with a file is left to the loader. */
bool kr_loadable(const char *path, char reason[KR_REASON_BYTES]);

/* Loads a plug-in for good and finds its descriptor; NULL with reason set. */
const kr_backend *kr_load(const char *path, char reason[KR_REASON_BYTES]);

/* The file that this code is in: the library, or the program that it is linked into. False where
 * that cannot be known. */
bool kr_own_path(char path[KR_PATH_BYTES]);

#endif
