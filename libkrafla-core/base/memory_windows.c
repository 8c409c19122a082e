/* Blocks, pages and file mappings on Windows.
 *
 * Sources   Microsoft, Win32 API reference: VirtualAlloc, CreateFileMappingW, MapViewOfFile. */
#include "base/memory.h"
#include "base/memory_system.h"
#include "base/size.h"
#include "base/system.h"
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include <windows.h>

#define HUGE_PAGE ((size_t)2 << 20)

void *kr_system_alloc(size_t bytes, size_t alignment) {
  return _aligned_malloc(bytes, alignment);
}

void kr_system_free(void *block) {
  _aligned_free(block);
}

/* Large pages would need a privilege that users do not have. On a boundary of one nonetheless, as
 * elsewhere: room for that is reserved, its address space alone, and only what is used committed.
 */
void *kr_pages_alloc(size_t bytes) {
  size_t whole;
  if (!kr_add_size(bytes, HUGE_PAGE, &whole)) return NULL;
  for (int tries = 0; tries < 8; tries++) {
    char *room = VirtualAlloc(NULL, whole, MEM_RESERVE, PAGE_NOACCESS);
    if (!room) return NULL;
    char *start = room + (HUGE_PAGE - (uintptr_t)room % HUGE_PAGE) % HUGE_PAGE;
    VirtualFree(room, 0, MEM_RELEASE);
    /* a part of a reservation cannot be given back; another thread may be quicker here */
    void *pages = VirtualAlloc(start, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (pages) return pages;
  }
  return NULL;
}

void kr_pages_free(void *pages, size_t bytes) {
  (void)bytes;
  if (pages) VirtualFree(pages, 0, MEM_RELEASE);
}

static int fail(kr_error *err, const char *what) {
  char text[200];
  DWORD code = GetLastError();
  return kr_fail(err, KR_E_IO, "%s: %s", what, kr_windows_message(code, text, sizeof text));
}

static int map(HANDLE file, kr_mapping *ret_mapping, kr_error *err) {
  LARGE_INTEGER size;
  if (!GetFileSizeEx(file, &size)) return fail(err, "its size cannot be read");
  if ((uint64_t)size.QuadPart > SIZE_MAX)
    return kr_fail(err, KR_E_MEMORY, "is too large for this machine's address space");
  kr_mapping mapping = {NULL, (size_t)size.QuadPart};
  if (mapping.size) {
    HANDLE section = CreateFileMappingW(file, NULL, PAGE_READONLY, 0, 0, NULL);
    if (!section) return fail(err, "cannot be mapped");
    mapping.data = MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0);
    int code = mapping.data ? KR_OK : fail(err, "cannot be mapped");
    CloseHandle(section); /* the view keeps it */
    if (code) return code;
  }
  *ret_mapping = mapping;
  return KR_OK;
}

/* The C library's words, for the causes that users meet, so that messages are the same everywhere.
 */
static int refuse(DWORD code, kr_error *err) {
  char text[200];
  int number =
      code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND || code == ERROR_INVALID_NAME
          ? ENOENT
      : code == ERROR_ACCESS_DENIED ? EACCES
                                    : 0;
  return kr_fail(err, KR_E_IO, "cannot be opened: %s",
                 number ? strerror(number) : kr_windows_message(code, text, sizeof text));
}

int kr_mapping_open(const char *path, kr_mapping *ret_mapping, kr_error *err) {
  wchar_t wide[KR_PATH_BYTES];
  if (!kr_path_wide(path, wide)) return refuse(ERROR_INVALID_NAME, err);
  DWORD attributes = GetFileAttributesW(wide);
  if (attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY))
    return kr_fail(err, KR_E_IO, "is a directory");
  /* nobody can cut a file that is mapped */
  HANDLE file =
      CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  if (file == INVALID_HANDLE_VALUE) return refuse(GetLastError(), err);
  int code = GetFileType(file) == FILE_TYPE_DISK ? map(file, ret_mapping, err)
                                                 : kr_fail(err, KR_E_IO, "is not a regular file");
  CloseHandle(file);
  return code;
}

void kr_mapping_close(kr_mapping *mapping) {
  if (mapping->data) UnmapViewOfFile(mapping->data);
  *mapping = (kr_mapping){0};
}

/* Unlocking what is not locked takes pages out of the working set (Microsoft, VirtualUnlock). */
void kr_mapping_release(const kr_mapping *mapping, const uint8_t *data, size_t bytes) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  uintptr_t page = info.dwPageSize;
  uintptr_t from = ((uintptr_t)data + page - 1) / page * page; /* whole pages inside only */
  uintptr_t to = ((uintptr_t)data + bytes) / page * page;
  if (mapping->data && to > from) (void)VirtualUnlock((void *)from, to - from);
}
