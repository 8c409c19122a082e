/* Pages, traps and paths on Windows.
 *
 * Sources   Microsoft, Win32 API reference: VirtualAlloc, VirtualProtect,
 *           AddVectoredExceptionHandler, RtlCaptureContext, EXCEPTION_RECORD. */
#include "check_system.h"
#include <glib.h>
#include <windows.h>

size_t kr_check_page_bytes(void) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

uint8_t *kr_check_pages_new(size_t bytes) {
  return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_NOACCESS);
}

bool kr_check_pages_allow(uint8_t *pages, size_t bytes, bool write) {
  DWORD before;
  return VirtualProtect(pages, bytes, write ? PAGE_READWRITE : PAGE_READONLY, &before) != 0;
}

void kr_check_pages_free(uint8_t *pages, size_t bytes) {
  (void)bytes;
  if (pages) VirtualFree(pages, 0, MEM_RELEASE);
}

static CONTEXT before_call; /* where a failed call goes on */
static volatile kr_check_fault caught;
static const uint8_t *volatile fault;

static LONG CALLBACK on_exception(EXCEPTION_POINTERS *exception) {
  const EXCEPTION_RECORD *record = exception->ExceptionRecord;
  switch (record->ExceptionCode) {
  case EXCEPTION_ACCESS_VIOLATION:
  case EXCEPTION_IN_PAGE_ERROR:
    fault = (const uint8_t *)record->ExceptionInformation[1];
    caught = KR_CHECK_MEMORY;
    break;
  case EXCEPTION_DATATYPE_MISALIGNMENT:
    fault = NULL;
    caught = KR_CHECK_MEMORY;
    break;
  case EXCEPTION_ILLEGAL_INSTRUCTION:
  case EXCEPTION_PRIV_INSTRUCTION:
    caught = KR_CHECK_ILLEGAL;
    break;
  case EXCEPTION_FLT_DENORMAL_OPERAND:
  case EXCEPTION_FLT_DIVIDE_BY_ZERO:
  case EXCEPTION_FLT_INEXACT_RESULT:
  case EXCEPTION_FLT_INVALID_OPERATION:
  case EXCEPTION_FLT_OVERFLOW:
  case EXCEPTION_FLT_UNDERFLOW:
  case EXCEPTION_INT_DIVIDE_BY_ZERO:
  case EXCEPTION_INT_OVERFLOW:
    caught = KR_CHECK_ARITHMETIC;
    break;
  default:
    return EXCEPTION_CONTINUE_SEARCH;
  }
  *exception->ContextRecord = before_call;
  return EXCEPTION_CONTINUE_EXECUTION;
}

kr_check_fault kr_check_trap(kr_check_trap_fn *fn, void *data, const uint8_t **ret_address) {
  void *handler = AddVectoredExceptionHandler(1, on_exception);
  caught = KR_CHECK_NO_FAULT;
  RtlCaptureContext(&before_call); /* a failed call continues here, with caught set */
  if (caught == KR_CHECK_NO_FAULT) fn(data);
  RemoveVectoredExceptionHandler(handler);
  *ret_address = fault;
  return caught;
}

int64_t kr_check_memory_bytes(void) {
  MEMORYSTATUSEX status = {.dwLength = sizeof status};
  return GlobalMemoryStatusEx(&status) ? (int64_t)status.ullTotalPhys : 0;
}

char *kr_check_real_path(const char *path) {
  return g_file_test(path, G_FILE_TEST_EXISTS) ? g_canonicalize_filename(path, NULL) : NULL;
}
