/* What the core asks of the operating system beyond C11 and POSIX threads: system_posix.c and
 * system_windows.c, memory_*.c and cores_*.c. Paths are UTF-8 everywhere. */
#ifndef KR_BASE_SYSTEM_H
#define KR_BASE_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KR_PATH_BYTES = 4096 };

#if defined(_WIN32)
#define KR_SEPARATOR '\\' /* in what kr_path_real gives */
#else
#define KR_SEPARATOR '/'
#endif

/* A variable of the environment, unless the program runs with rights that its caller lacks, or is
 * longer than room. NULL where there is none; else room, or what the C library keeps. */
const char *kr_environment(const char *name, char room[KR_PATH_BYTES]);

/* The part of a path behind its last separator. Borrowed. */
const char *kr_path_name(const char *path);
bool kr_path_is_absolute(const char *path);
/* False only where it is certain that nothing is there. */
bool kr_path_exists(const char *path);
/* Absolute, without links, "." and ".."; false with errno set where there is no such thing. */
bool kr_path_real(const char *path, char real[KR_PATH_BYTES]);

/* Fills seed with what nobody else can guess; false where the system gives nothing. */
bool kr_random_seed(uint64_t seed[2]);

/* How often a core has been taken away from a thread of this process that wanted to go on; -1 where
 * the system does not tell. */
int64_t kr_times_preempted(void);

#if defined(_WIN32)
#include <wchar.h>

/* As the system's calls take it; false where it does not fit or is not UTF-8. */
bool kr_path_wide(const char *path, wchar_t wide[KR_PATH_BYTES]);
/* The other way. */
bool kr_path_narrow(const wchar_t *wide, char path[KR_PATH_BYTES]);
/* The system's words for an error of GetLastError, without the full stop. Returns text. */
const char *kr_windows_message(unsigned long code, char *text, size_t size);
#endif

#endif
