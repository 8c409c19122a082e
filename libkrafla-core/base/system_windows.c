/* Paths, the environment and randomness on Windows.
 *
 * Sources   Microsoft, Win32 API reference: MultiByteToWideChar, CreateFileW,
 *           GetFinalPathNameByHandleW, FormatMessageW; "Naming files, paths, and namespaces". */
#define _CRT_RAND_S /* before stdlib.h, for rand_s */
#include "base/system.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

bool kr_path_wide(const char *path, wchar_t wide[KR_PATH_BYTES]) {
  return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide, KR_PATH_BYTES) > 0;
}

bool kr_path_narrow(const wchar_t *wide, char path[KR_PATH_BYTES]) {
  return WideCharToMultiByte(CP_UTF8, WC_ERR_INVALID_CHARS, wide, -1, path, KR_PATH_BYTES, NULL,
                             NULL) > 0;
}

const char *kr_windows_message(unsigned long code, char *text, size_t size) {
  static const char unknown[] = "unknown error";
  wchar_t wide[256];
  DWORD n = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS |
                               FORMAT_MESSAGE_MAX_WIDTH_MASK,
                           NULL, code, 0, wide, sizeof wide / sizeof *wide, NULL);
  while (n && (wide[n - 1] == L' ' || wide[n - 1] == L'.')) n--;
  wide[n] = 0;
  if (!n || !WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, (int)size, NULL, NULL))
    memcpy(text, unknown, size < sizeof unknown ? size : sizeof unknown), text[size - 1] = 0;
  return text;
}

const char *kr_environment(const char *name, char room[KR_PATH_BYTES]) {
  wchar_t key[64], value[KR_PATH_BYTES];
  if (!MultiByteToWideChar(CP_UTF8, 0, name, -1, key, sizeof key / sizeof *key)) return NULL;
  SetLastError(ERROR_SUCCESS);
  DWORD n = GetEnvironmentVariableW(key, value, KR_PATH_BYTES);
  if (n >= KR_PATH_BYTES || (!n && GetLastError())) return NULL;
  return kr_path_narrow(value, room) ? room : NULL;
}

static bool is_separator(char c) {
  return c == '/' || c == '\\';
}

const char *kr_path_name(const char *path) {
  const char *name = path;
  for (const char *p = path; *p; p++)
    if (is_separator(*p) || (*p == ':' && p == path + 1)) name = p + 1;
  return name;
}

/* "C:\..." and "\\server\..."; "\..." depends on the drive that is chosen, "C:..." on its folder.
 */
bool kr_path_is_absolute(const char *path) {
  if (is_separator(path[0])) return is_separator(path[1]);
  bool letter = (path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z');
  return letter && path[1] == ':' && is_separator(path[2]);
}

bool kr_path_exists(const char *path) {
  wchar_t wide[KR_PATH_BYTES];
  if (!kr_path_wide(path, wide)) return false;
  if (GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES) return true;
  DWORD code = GetLastError();
  return code != ERROR_FILE_NOT_FOUND && code != ERROR_PATH_NOT_FOUND;
}

static int to_errno(DWORD code) {
  switch (code) {
  case ERROR_FILE_NOT_FOUND:
  case ERROR_PATH_NOT_FOUND:
  case ERROR_INVALID_NAME:
  case ERROR_BAD_PATHNAME:
    return ENOENT;
  case ERROR_ACCESS_DENIED:
  case ERROR_SHARING_VIOLATION:
    return EACCES;
  case ERROR_FILENAME_EXCED_RANGE:
    return ENAMETOOLONG;
  default:
    return EIO;
  }
}

/* The system gives "\\?\C:\..." or "\\?\UNC\server\...": the prefix is taken off, since programs
 * show these paths to people. */
bool kr_path_real(const char *path, char real[KR_PATH_BYTES]) {
  wchar_t wide[KR_PATH_BYTES], found[KR_PATH_BYTES];
  if (!kr_path_wide(path, wide)) return errno = ENOENT, false;
  HANDLE file = CreateFileW(wide, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                            OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
  if (file == INVALID_HANDLE_VALUE) return errno = to_errno(GetLastError()), false;
  DWORD n = GetFinalPathNameByHandleW(file, found, KR_PATH_BYTES, FILE_NAME_NORMALIZED);
  DWORD code = GetLastError();
  CloseHandle(file);
  if (!n || n >= KR_PATH_BYTES) return errno = n ? ENAMETOOLONG : to_errno(code), false;
  const wchar_t *start = found;
  if (!wcsncmp(found, L"\\\\?\\UNC\\", 8)) {
    found[6] = L'\\';
    start = found + 6;
  } else if (!wcsncmp(found, L"\\\\?\\", 4)) {
    start = found + 4;
  }
  if (!kr_path_narrow(start, real)) return errno = ENAMETOOLONG, false;
  return true;
}

bool kr_random_seed(uint64_t seed[2]) {
  unsigned parts[4];
  for (int i = 0; i < 4; i++)
    if (rand_s(&parts[i])) return false;
  for (int i = 0; i < 2; i++) seed[i] = (uint64_t)parts[2 * i] << 32 | parts[2 * i + 1];
  return true;
}

int64_t kr_times_preempted(void) {
  return -1;
}
