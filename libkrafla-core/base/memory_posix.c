/* Blocks, pages and file mappings on POSIX systems. */
#include "base/memory.h"
#include "base/memory_system.h"
#include "base/size.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *kr_system_alloc(size_t bytes, size_t alignment) {
  void *block = NULL;
  return posix_memalign(&block, alignment, bytes) ? NULL : block;
}

void kr_system_free(void *block) {
  free(block);
}

void *kr_pages_alloc(size_t bytes) {
  size_t whole;
  if (!kr_add_size(bytes, HUGE_PAGE, &whole)) return NULL;
  /* one huge page more than asked for, to start on a boundary of one */
  uint8_t *pages = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return NULL;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t head = (HUGE_PAGE - (uintptr_t)pages % HUGE_PAGE) % HUGE_PAGE;
  size_t used = (bytes + page - 1) / page * page, tail = whole - head - used;
  if (head) munmap(pages, head);
  if (tail) munmap(pages + head + used, tail);
#ifdef MADV_HUGEPAGE
  (void)madvise(pages + head, used, MADV_HUGEPAGE); /* only a wish */
#endif
  return pages + head;
}

void kr_pages_free(void *pages, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  if (pages) munmap(pages, (bytes + page - 1) / page * page);
}

static int map(int fd, kr_mapping *ret_mapping, kr_error *err) {
  struct stat st;
  if (fstat(fd, &st)) return kr_fail(err, KR_E_IO, "%s", strerror(errno));
  if (S_ISDIR(st.st_mode)) return kr_fail(err, KR_E_IO, "is a directory");
  if (!S_ISREG(st.st_mode)) return kr_fail(err, KR_E_IO, "is not a regular file");
  if ((uint64_t)st.st_size > SIZE_MAX)
    return kr_fail(err, KR_E_MEMORY, "is too large for this machine's address space");
  kr_mapping mapping = {NULL, (size_t)st.st_size};
  if (mapping.size) {
    void *data = mmap(NULL, mapping.size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) return kr_fail(err, KR_E_IO, "cannot be mapped: %s", strerror(errno));
    mapping.data = data;
  }
  *ret_mapping = mapping;
  return KR_OK;
}

int kr_mapping_open(const char *path, kr_mapping *ret_mapping, kr_error *err) {
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not make us wait */
  if (fd < 0) return kr_fail(err, KR_E_IO, "cannot be opened: %s", strerror(errno));
  int code = map(fd, ret_mapping, err);
  close(fd);
  return code;
}

void kr_mapping_close(kr_mapping *mapping) {
  if (mapping->data) munmap((void *)mapping->data, mapping->size);
  *mapping = (kr_mapping){0};
}

void kr_mapping_release(const kr_mapping *mapping, const uint8_t *data, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uintptr_t from = ((uintptr_t)data + page - 1) / page * page; /* whole pages inside only */
  uintptr_t to = ((uintptr_t)data + bytes) / page * page;
  if (mapping->data && to > from) (void)madvise((void *)from, to - from, MADV_DONTNEED);
}
