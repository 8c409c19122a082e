/* CPU features by name, the operating system's state included. */
#ifndef KR_BASE_CPU_H
#define KR_BASE_CPU_H

#include <stdbool.h>
#include <stddef.h>

/* The first of the features (words separated by spaces) that is not usable here, copied to out; or
 * NULL when all are. A word that the core does not know may be given raw:
 *   cpuid:LEAF[.SUBLEAF]:REGISTER:BIT[:ymm|:zmm]   x86; numbers in hexadecimal, BIT in decimal; ymm
 *                                                  and zmm: the state that the system must save
 *   hwcap:BIT  hwcap2:BIT                          ARM Linux, decimal
 * KRAFLA_CPU_MASK hides features that it names, for tests. */
const char *kr_cpu_missing(const char *features, char *out, size_t size);

#endif
