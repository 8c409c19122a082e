/* One plug-in: may its file be trusted, does its descriptor fit. Only data of the plug-in is read
 * here; none of its functions is called. */
#include "base/cpu.h"
#include "dispatch/dispatch.h"
#include "krafla_config.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#if defined(__ELF__)
#include <link.h>
#endif
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_TABLE_BYTES = 1 << 16, MAX_NAME = 64 };

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

/* The loader says of a file for another machine that it does not exist. What else is wrong with a
 * file is left to it. */
static bool for_the_loader(const char *path, char reason[KR_REASON_BYTES]) {
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

static bool for_the_loader(const char *path, char reason[KR_REASON_BYTES]) {
  (void)path, (void)reason;
  return true;
}

#endif

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

#if defined(KR_STATIC_PROGRAM)

static void load(const char *path, const char *file_name, kr_found *found) {
  (void)path, (void)file_name;
  snprintf(found->reason, sizeof found->reason, "a static program loads no plug-ins");
}

#else

static void load(const char *path, const char *file_name, kr_found *found) {
  /* Never closed: the plug-in's constants and code are used until the process ends. */
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror(), *colon = why ? strstr(why, ": ") : NULL;
    snprintf(found->reason, sizeof found->reason, "cannot be loaded: %s",
             colon ? colon + 2
             : why ? why
                   : "unknown reason");
    return;
  }
  const kr_backend *backend = dlsym(handle, "krafla_backend");
  if (!backend)
    snprintf(found->reason, sizeof found->reason, "has no symbol krafla_backend");
  else if (kr_backend_check(backend, file_name, found))
    found->descriptor = backend;
}

#endif

void kr_plugin_open(const char *path, const char *file_name, kr_found *found) {
  if (kr_trusted(path, false, found->reason) && for_the_loader(path, found->reason))
    load(path, file_name, found);
}
