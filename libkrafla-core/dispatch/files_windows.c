/* Plug-in files on Windows. Files have lists of rights here, no mode bits: a file or directory is
 * refused when its list lets a group of people whom the user has not chosen change it. Who owns it
 * is not compared: an installed file may be the system's, the administrators' or the user's.
 *
 * Sources   Microsoft, PE Format; Win32 API reference: GetNamedSecurityInfoW, LoadLibraryExW. */
#include "dispatch/files.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>
/* after windows.h */
#include <aclapi.h>

/* ---- whose code ------------------------------------------------------------------------------ */

/* Any of these lets its holder change what is loaded. For a directory the first two mean to add
 * files and folders. */
#define CHANGES                                                                                    \
  (FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER |     \
   GENERIC_WRITE | GENERIC_ALL)

static const char *crowd(PSID holder) {
  static const struct {
    WELL_KNOWN_SID_TYPE type;
    const char *name;
  } crowds[] = {{WinWorldSid, "everyone"},
                {WinBuiltinUsersSid, "all users"},
                {WinAuthenticatedUserSid, "authenticated users"},
                {WinBuiltinGuestsSid, "guests"},
                {WinAnonymousSid, "anonymous users"}};
  for (size_t i = 0; i < sizeof crowds / sizeof *crowds; i++)
    if (IsWellKnownSid(holder, crowds[i].type)) return crowds[i].name;
  return NULL;
}

/* Who may change it beside those that the user trusts; NULL for nobody. A right that is denied
 * elsewhere in the list is still seen as given: that errs to the safe side. */
static const char *who_may_change(const ACL *list) {
  if (!list) return "everyone"; /* no list is no protection */
  for (DWORD i = 0; i < list->AceCount; i++) {
    void *entry;
    if (!GetAce((ACL *)list, i, &entry)) continue;
    const ACCESS_ALLOWED_ACE *ace = entry;
    if (ace->Header.AceType != ACCESS_ALLOWED_ACE_TYPE ||
        (ace->Header.AceFlags & INHERIT_ONLY_ACE) || !(ace->Mask & CHANGES))
      continue;
    const char *who = crowd((PSID)&ace->SidStart);
    if (who) return who;
  }
  return NULL;
}

static void say(char reason[KR_REASON_BYTES], const char *what, DWORD code) {
  char text[160];
  snprintf(reason, KR_REASON_BYTES, "%s: %s", what, kr_windows_message(code, text, sizeof text));
}

bool kr_trusted(const char *path, bool directory, char reason[KR_REASON_BYTES]) {
  const char *what = directory ? "directory" : "file";
  wchar_t wide[KR_PATH_BYTES];
  DWORD found = kr_path_wide(path, wide) ? GetFileAttributesW(wide) : INVALID_FILE_ATTRIBUTES;
  if (found == INVALID_FILE_ATTRIBUTES) {
    snprintf(reason, KR_REASON_BYTES, "%s cannot be read: %s", what, strerror(ENOENT));
    return false;
  }
  if (directory != ((found & FILE_ATTRIBUTE_DIRECTORY) != 0)) {
    snprintf(reason, KR_REASON_BYTES, "is not a %s", directory ? "directory" : "regular file");
    return false;
  }
  PSECURITY_DESCRIPTOR descriptor = NULL;
  ACL *list = NULL;
  DWORD code = GetNamedSecurityInfoW(wide, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL, NULL,
                                     &list, NULL, &descriptor);
  if (code) {
    say(reason, directory ? "directory's rights cannot be read" : "file's rights cannot be read",
        code);
    return false;
  }
  const char *who = who_may_change(list);
  LocalFree(descriptor);
  if (who) snprintf(reason, KR_REASON_BYTES, "%s is writable by others (%s)", what, who);
  return !who;
}

/* ---- is it for this machine ------------------------------------------------------------------ */

/* Machine types of PE files. */
static const struct {
  unsigned number;
  const char *name;
} machines[] = {{0x14c, "x86"}, {0x1c4, "ARM"}, {0x8664, "x86-64"}, {0xaa64, "AArch64"}};

#if defined(__x86_64__)
#define THIS_MACHINE 0x8664
#elif defined(__i386__)
#define THIS_MACHINE 0x14c
#elif defined(__aarch64__)
#define THIS_MACHINE 0xaa64
#else
#define THIS_MACHINE 0x1c4
#endif

static unsigned load_u16(const uint8_t *p) {
  return (unsigned)(p[0] | p[1] << 8);
}

static uint32_t load_u32(const uint8_t *p) {
  return (uint32_t)load_u16(p) | (uint32_t)load_u16(p + 2) << 16;
}

/* Whether the bytes of all sections are there. head is the file's COFF header, at its offset. */
static bool is_whole(const kr_mapping *file, uint64_t head) {
  const uint8_t *coff = file->data + head;
  uint64_t n = load_u16(coff + 2), table = head + 20 + load_u16(coff + 16);
  if (table + 40 * n > file->size) return false;
  for (uint64_t i = 0; i < n; i++) {
    const uint8_t *section = file->data + table + 40 * i;
    uint64_t bytes = load_u32(section + 16), at = load_u32(section + 20);
    if (at > file->size || bytes > file->size - at) return false;
  }
  return true;
}

static bool fits_machine(unsigned machine, char reason[KR_REASON_BYTES]) {
  if (machine == THIS_MACHINE) return true;
  const char *name = "unknown";
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (machines[i].number == machine) name = machines[i].name;
  snprintf(reason, KR_REASON_BYTES, "is for another machine (%s, PE machine 0x%x)", name, machine);
  return false;
}

static bool check_image(const kr_mapping *file, char reason[KR_REASON_BYTES]) {
  if (file->size >= 4 && !memcmp(file->data, "\177ELF", 4)) {
    snprintf(reason, KR_REASON_BYTES, "is for another system (an ELF file)");
    return false;
  }
  if (file->size < 2 || memcmp(file->data, "MZ", 2)) {
    snprintf(reason, KR_REASON_BYTES, "cannot be loaded: not a DLL");
    return false;
  }
  uint64_t at = file->size >= 64 ? load_u32(file->data + 60) : UINT64_MAX;
  bool whole = at != UINT64_MAX && at + 24 <= file->size;
  if (whole && memcmp(file->data + at, "PE\0\0", 4)) {
    snprintf(reason, KR_REASON_BYTES, "cannot be loaded: not a DLL");
    return false;
  }
  if (whole && !fits_machine(load_u16(file->data + at + 4), reason)) return false;
  whole = whole && is_whole(file, at + 4);
  if (!whole) snprintf(reason, KR_REASON_BYTES, "cannot be loaded: the file is cut short");
  return whole;
}

bool kr_loadable(const char *path, char reason[KR_REASON_BYTES]) {
  kr_mapping file;
  kr_error err;
  if (kr_mapping_open(path, &file, &err)) {
    snprintf(reason, KR_REASON_BYTES, "%.*s", KR_REASON_BYTES - 1, err.message);
    return false;
  }
  bool ok = check_image(&file, reason);
  kr_mapping_close(&file);
  return ok;
}

/* ---- loading --------------------------------------------------------------------------------- */

/* The libraries that a plug-in needs are the system's or lie beside it: neither the working
 * directory nor PATH is searched. It is never unloaded. */
const kr_backend *kr_load(const char *path, char reason[KR_REASON_BYTES]) {
  wchar_t wide[KR_PATH_BYTES];
  if (!kr_path_wide(path, wide)) {
    snprintf(reason, KR_REASON_BYTES, "cannot be loaded: its path is too long");
    return NULL;
  }
  DWORD mode = 0;
  SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &mode); /* no dialogues */
  HMODULE module =
      LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
  DWORD code = GetLastError();
  SetThreadErrorMode(mode, NULL);
  if (!module) {
    say(reason, "cannot be loaded", code);
    return NULL;
  }
  const kr_backend *backend = (const void *)GetProcAddress(module, "krafla_backend");
  if (!backend) snprintf(reason, KR_REASON_BYTES, "has no symbol krafla_backend");
  return backend;
}

/* ---- places ---------------------------------------------------------------------------------- */

bool kr_each_file(const char *folder, kr_file_fn *fn, void *data, char reason[KR_REASON_BYTES]) {
  char pattern[KR_PATH_BYTES];
  wchar_t wide[KR_PATH_BYTES];
  WIN32_FIND_DATAW found;
  int n = snprintf(pattern, sizeof pattern, "%s\\*", folder);
  HANDLE search = n < (int)sizeof pattern && kr_path_wide(pattern, wide)
                      ? FindFirstFileW(wide, &found)
                      : INVALID_HANDLE_VALUE;
  if (search == INVALID_HANDLE_VALUE) {
    say(reason, "directory cannot be read", GetLastError());
    return false;
  }
  bool ok = true;
  do {
    char name[KR_PATH_BYTES];
    ok = !kr_path_narrow(found.cFileName, name) || fn(data, folder, name);
  } while (ok && FindNextFileW(search, &found));
  FindClose(search);
  return ok;
}

bool kr_own_path(char path[KR_PATH_BYTES]) {
  HMODULE self;
  wchar_t wide[KR_PATH_BYTES];
  if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                              GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                          (const wchar_t *)&kr_builtin_backends, &self))
    return false;
  DWORD n = GetModuleFileNameW(self, wide, KR_PATH_BYTES);
  return n && n < KR_PATH_BYTES && kr_path_narrow(wide, path);
}
