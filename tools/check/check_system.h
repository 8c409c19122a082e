/* What the checker asks of the operating system: check_system_posix.c, check_system_windows.c. */
#ifndef KR_CHECK_SYSTEM_H
#define KR_CHECK_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Pages that may not be touched, and parts of them that may be read, or written too. */
size_t kr_check_page_bytes(void);
uint8_t *kr_check_pages_new(size_t bytes); /* NULL when memory is gone */
bool kr_check_pages_allow(uint8_t *pages, size_t bytes, bool write);
void kr_check_pages_free(uint8_t *pages, size_t bytes);

typedef enum kr_check_fault {
  KR_CHECK_NO_FAULT,
  KR_CHECK_MEMORY,
  KR_CHECK_ILLEGAL,
  KR_CHECK_ARITHMETIC
} kr_check_fault;

/* Calls fn and tells how it failed; of a fault of memory *ret_address is where. One at a time. */
typedef void kr_check_trap_fn(void *data);
kr_check_fault kr_check_trap(kr_check_trap_fn *fn, void *data, const uint8_t **ret_address);

/* Of the machine; 0 where that cannot be known. */
int64_t kr_check_memory_bytes(void);

/* A path without links, "." and ".."; NULL where there is no such file. Freed by g_free. */
char *kr_check_real_path(const char *path);

#endif
