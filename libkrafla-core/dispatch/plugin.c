/* One plug-in: may its file be trusted, does its descriptor fit. Only data of the plug-in is read
 * here; none of its functions is called. */
#include "base/cpu.h"
#include "dispatch/files.h"
#include <stdio.h>
#include <string.h>

enum { MAX_TABLE_BYTES = 1 << 16, MAX_NAME = 64 };

static bool refuse(kr_found *found, const char *format, unsigned long a, unsigned long b)
    __attribute__((format(printf, 2, 0)));

static bool refuse(kr_found *found, const char *format, unsigned long a, unsigned long b) {
  snprintf(found->reason, sizeof found->reason, format, a, b);
  return false;
}

/* The strings and the table, once the descriptor's head has been accepted. */
static bool check_contents(const kr_backend *b, const char *file_name, kr_found *found) {
  if (!b->name || !b->features || !b->provenance || !b->kernels)
    return refuse(found, "descriptor has a null member", 0, 0);
  if (strnlen(b->name, MAX_NAME) == MAX_NAME || !*b->name)
    return refuse(found, "descriptor's name is empty or too long", 0, 0);
  if (file_name && strcmp(b->name, file_name)) {
    snprintf(found->reason, sizeof found->reason, "its name is %s, but its file's is %s", b->name,
             file_name);
    return false;
  }
  uint32_t bytes = b->kernels->struct_size;
  if (bytes < offsetof(kr_kernels, vector_q4_0) || bytes > MAX_TABLE_BYTES ||
      bytes % sizeof(void *))
    return refuse(found, "kernel table of %lu bytes", bytes, 0);
  if (kr_cpu_missing(b->features, found->missing, sizeof found->missing)) {
    snprintf(found->reason, sizeof found->reason, "CPU lacks %s", found->missing);
    return false;
  }
  return true;
}

bool kr_backend_check(const kr_backend *b, const char *file_name, kr_found *found) {
  if (b->magic != KR_BACKEND_MAGIC)
    return refuse(found, "not a Krafla backend (magic 0x%08lx)", b->magic, 0);
  if (b->abi_major != KR_BACKEND_ABI_MAJOR)
    return refuse(found, "made for backend ABI %lu, this is %lu", b->abi_major,
                  KR_BACKEND_ABI_MAJOR);
  if (b->struct_size < sizeof(kr_backend) || b->struct_size > MAX_TABLE_BYTES)
    return refuse(found, "descriptor of %lu bytes, at least %lu needed", b->struct_size,
                  sizeof(kr_backend));
  if (b->numerics != KR_NUMERICS)
    return refuse(found, "keeps numerics contract %lu, this is %lu", b->numerics, KR_NUMERICS);
  return check_contents(b, file_name, found);
}

void kr_plugin_open(const char *path, const char *file_name, kr_found *found) {
  if (!kr_trusted(path, false, found->reason) || !kr_loadable(path, found->reason)) return;
  const kr_backend *backend = kr_load(path, found->reason);
  if (backend && kr_backend_check(backend, file_name, found)) found->descriptor = backend;
}
