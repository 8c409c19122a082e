/* Blocks from the operating system, for memory.c alone. */
#ifndef KR_BASE_MEMORY_SYSTEM_H
#define KR_BASE_MEMORY_SYSTEM_H

#include <stddef.h>

void *kr_system_alloc(size_t bytes, size_t alignment); /* not zeroed; NULL when memory is gone */
void kr_system_free(void *block);

#endif
