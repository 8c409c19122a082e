/* Dispatch: plug-ins found, checked and layered into one kernel table. */
#ifndef KR_DISPATCH_H
#define KR_DISPATCH_H

#include "base/memory.h"
#include <krafla/backend.h>
#include <stdbool.h>

enum { KR_REASON_BYTES = 256 };

/* A backend that was met. Strings of the descriptor are used only when it was accepted. */
typedef struct kr_found {
  kr_backend_info info;
  const kr_backend *descriptor; /* NULL when skipped before it could be read */
  char *name, *path;            /* own */
  char reason[KR_REASON_BYTES];
  char missing[64]; /* the CPU feature for which it was skipped, or "" */
} kr_found;

struct kr_backends {
  kr_found *found;
  size_t n;
  kr_kernels table;
  const char *isa;
  const char **owners; /* [kr_kernel_count()] */
};

/* The backends linked into the core, scalar first; NULL at the end. */
extern const kr_backend *const kr_builtin_backends[];

/* Why a descriptor cannot be used by this core and CPU, in reason; true when it can. file_name is
 * what the backend's name must be ("avx2"), NULL for built-in ones. */
bool kr_backend_check(const kr_backend *backend, const char *file_name, kr_found *found);

/* Opens the plug-in at path (its directory was checked) and fills found. */
void kr_plugin_open(const char *path, const char *file_name, kr_found *found);

/* Whether a directory or file may be trusted with code: owned by root or by the user, not writable
 * by others. Otherwise reason says why. */
bool kr_trusted(const char *path, bool directory, char reason[KR_REASON_BYTES]);

/* The directory to search: options, environment, beside the library, as compiled. Own; NULL when
 * memory is gone. */
char *kr_plugin_directory(const char *wanted);

/* Replaces what the backend has in table, and names it as the owner. Returns how many. */
size_t kr_table_layer(const kr_backend *backend, kr_kernels *table, const char **owners);

#endif
