/* Plug-in files on POSIX systems. */
#include "dispatch/files.h"
#include "krafla_config.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#if defined(__ELF__)
#include <link.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool kr_trusted(const char *path, bool directory, char reason[KR_REASON_BYTES]) {
  struct stat st;
  const char *what = directory ? "directory" : "file";
  if (stat(path, &st))
    snprintf(reason, KR_REASON_BYTES, "%s cannot be read: %s", what, strerror(errno));
  else if (directory ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
    snprintf(reason, KR_REASON_BYTES, "is not a %s", directory ? "directory" : "regular file");
  else if (st.st_uid != 0 && st.st_uid != geteuid())
    snprintf(reason, KR_REASON_BYTES, "%s is owned by another user (uid %lu)", what,
             (unsigned long)st.st_uid);
  else if (st.st_mode & S_IWOTH)
    snprintf(reason, KR_REASON_BYTES, "%s is writable by others (mode %04o)", what,
             (unsigned)st.st_mode & 07777);
  else
    return true;
  return false;
}

#if defined(__ELF__)

/* e_machine of ELF files, System V ABI, chapter 4. */
static const struct {
  unsigned number;
  const char *name;
} machines[] = {{3, "x86"},     {20, "PowerPC"},  {21, "PowerPC64"}, {22, "S390"},      {40, "ARM"},
                {62, "x86-64"}, {183, "AArch64"}, {243, "RISC-V"},   {258, "LoongArch"}};

#if defined(__x86_64__)
#define THIS_MACHINE 62
#elif defined(__i386__)
#define THIS_MACHINE 3
#elif defined(__aarch64__)
#define THIS_MACHINE 183
#elif defined(__arm__)
#define THIS_MACHINE 40
#else
#define THIS_MACHINE 0 /* not compared */
#endif

/* Whether all that the loader will map is there: it would end the program by a signal where it
 * reads past the end of a file that was cut short. */
static bool is_whole(int file) {
  ElfW(Ehdr) head;
  struct stat st;
  const int class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (fstat(file, &st) || pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head) return false;
  if (head.e_ident[EI_CLASS] != class || head.e_phentsize != sizeof(ElfW(Phdr))) return true;
  uint64_t bytes = (uint64_t)st.st_size;
  for (unsigned i = 0; i < head.e_phnum; i++) {
    ElfW(Phdr) part;
    off_t at = (off_t)(head.e_phoff + i * sizeof part);
    if (pread(file, &part, sizeof part, at) != (ssize_t)sizeof part) return false;
    if (part.p_type == PT_LOAD && (part.p_offset > bytes || part.p_filesz > bytes - part.p_offset))
      return false;
  }
  return true;
}

/* The loader says of a file for another machine that it does not exist. */
bool kr_loadable(const char *path, char reason[KR_REASON_BYTES]) {
  unsigned char head[20];
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t n = file < 0 ? -1 : read(file, head, sizeof head);
  bool elf = n == (ssize_t)sizeof head && !memcmp(head, "\177ELF", 4),
       whole = !elf || is_whole(file);
  if (file >= 0) close(file);
  if (!elf) return true;
  bool big_endian = head[5] == 2;
  unsigned machine = (unsigned)(big_endian ? head[18] << 8 | head[19] : head[19] << 8 | head[18]);
  if (!THIS_MACHINE || machine == THIS_MACHINE) {
    if (!whole) snprintf(reason, KR_REASON_BYTES, "cannot be loaded: the file is cut short");
    return whole;
  }
  const char *name = "unknown";
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (machines[i].number == machine) name = machines[i].name;
  snprintf(reason, KR_REASON_BYTES, "is for another machine (%s, ELF machine %u)", name, machine);
  return false;
}

#else

bool kr_loadable(const char *path, char reason[KR_REASON_BYTES]) {
  (void)path, (void)reason;
  return true;
}

#endif

#if defined(KR_STATIC_PROGRAM)

const kr_backend *kr_load(const char *path, char reason[KR_REASON_BYTES]) {
  (void)path;
  snprintf(reason, KR_REASON_BYTES, "a static program loads no plug-ins");
  return NULL;
}

#else

const kr_backend *kr_load(const char *path, char reason[KR_REASON_BYTES]) {
  /* Never closed: the plug-in's constants and code are used until the process ends. */
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror(), *colon = why ? strstr(why, ": ") : NULL;
    snprintf(reason, KR_REASON_BYTES, "cannot be loaded: %s",
             colon ? colon + 2
             : why ? why
                   : "unknown reason");
    return NULL;
  }
  const kr_backend *backend = dlsym(handle, "krafla_backend");
  if (!backend) snprintf(reason, KR_REASON_BYTES, "has no symbol krafla_backend");
  return backend;
}

#endif

bool kr_each_file(const char *folder, kr_file_fn *fn, void *data, char reason[KR_REASON_BYTES]) {
  DIR *dir = opendir(folder);
  if (!dir) {
    snprintf(reason, KR_REASON_BYTES, "%s", strerror(errno));
    return false;
  }
  bool ok = true;
  for (struct dirent *entry; ok && (entry = readdir(dir));) ok = fn(data, folder, entry->d_name);
  closedir(dir);
  return ok;
}

/* Of a program the linker knows only argv[0], and a relative name must not be looked up in the
 * working directory. */
bool kr_own_path(char path[KR_PATH_BYTES]) {
  Dl_info info;
  if (!dladdr((const void *)&kr_builtin_backends, &info) || !info.dli_fname) return false;
  return realpath(*info.dli_fname == '/' ? info.dli_fname : "/proc/self/exe", path) != NULL;
}
