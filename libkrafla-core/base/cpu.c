/* CPU features by name. Named bits and the state that the system saves, never model numbers.
 *
 * Sources   Intel SDM volume 2A, CPUID, and volume 1, 13.2-13.3 (XGETBV); Linux asm/hwcap.h. */
#include "base/cpu.h"
#include "base/error.h"
#include "base/system.h"
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define X86 1
#elif defined(__linux__) && (defined(__aarch64__) || defined(__arm__))
#include <sys/auxv.h>
#define ARM 1
#endif

enum { EAX, EBX, ECX, EDX };
enum { NO_STATE, YMM, ZMM, TILES };

typedef struct feature {
  const char *name;
  uint32_t leaf, subleaf;
  uint8_t reg, bit, state;
} feature;

/* Digits at *at, no sign, blank or prefix as strtoul takes them; moves *at behind them. */
static bool number(const char **at, uint32_t base, uint32_t max, uint32_t *ret) {
  static const char digits[] = "0123456789abcdef";
  const char *start = *at, *digit;
  uint64_t value = 0;
  while (**at && (digit = strchr(digits, **at)) && (uint32_t)(digit - digits) < base) {
    value = value * base + (uint32_t)(digit - digits);
    if (value > max) return false;
    (*at)++;
  }
  *ret = (uint32_t)value;
  return *at != start;
}

#if defined(X86)

static const feature known[] = {
    {"sse2", 1, 0, EDX, 26, NO_STATE},   {"sse3", 1, 0, ECX, 0, NO_STATE},
    {"ssse3", 1, 0, ECX, 9, NO_STATE},   {"sse4.1", 1, 0, ECX, 19, NO_STATE},
    {"sse4.2", 1, 0, ECX, 20, NO_STATE}, {"popcnt", 1, 0, ECX, 23, NO_STATE},
    {"avx", 1, 0, ECX, 28, YMM},         {"f16c", 1, 0, ECX, 29, YMM},
    {"fma", 1, 0, ECX, 12, YMM},         {"avx2", 7, 0, EBX, 5, YMM},
    {"bmi1", 7, 0, EBX, 3, NO_STATE},    {"bmi2", 7, 0, EBX, 8, NO_STATE},
    {"avx-vnni", 7, 1, EAX, 4, YMM},     {"avx512f", 7, 0, EBX, 16, ZMM},
    {"avx512dq", 7, 0, EBX, 17, ZMM},    {"avx512bw", 7, 0, EBX, 30, ZMM},
    {"avx512vl", 7, 0, EBX, 31, ZMM},    {"avx512-vbmi", 7, 0, ECX, 1, ZMM},
    {"avx512-vnni", 7, 0, ECX, 11, ZMM}, {"avx512-bf16", 7, 1, EAX, 5, ZMM},
    {"avx512-fp16", 7, 0, EDX, 23, ZMM}, {"amx-tile", 7, 0, EDX, 24, TILES},
    {"amx-int8", 7, 0, EDX, 25, TILES},
};

/* Bits of XCR0: x87, SSE, AVX, then the three of AVX-512, then the two of AMX. */
static bool state_saved(int state) {
  static const uint64_t need[] = {[YMM] = 0x6, [ZMM] = 0xe6, [TILES] = 0x60006};
  uint32_t a, b, c, d;
  if (state == NO_STATE) return true;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1)) return false; /* OSXSAVE */
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  uint64_t saved = (uint64_t)high << 32 | low;
  return (saved & need[state]) == need[state];
}

static bool present(const feature *f) {
  uint32_t r[4];
  if (!__get_cpuid_count(f->leaf, f->subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX])) return false;
  if (f->leaf == 7 && f->subleaf > 0) { /* leaf 7 says how many subleaves it has */
    uint32_t top, b, c, d;
    if (!__get_cpuid_count(7, 0, &top, &b, &c, &d) || top < f->subleaf) return false;
  }
  return (r[f->reg] >> f->bit & 1) && state_saved(f->state);
}

/* "cpuid:7.1:eax:4:ymm" */
static bool parse_raw(const char *word, feature *ret) {
  static const char *const registers[] = {"eax:", "ebx:", "ecx:", "edx:"};
  if (strncmp(word, "cpuid:", 6)) return false;
  feature f = {0};
  uint32_t bit;
  word += 6;
  if (!number(&word, 16, UINT32_MAX, &f.leaf)) return false;
  if (*word == '.' && (word++, !number(&word, 16, UINT32_MAX, &f.subleaf))) return false;
  if (*word++ != ':') return false;
  while (f.reg < 4 && strncmp(word, registers[f.reg], 4)) f.reg++;
  if (f.reg == 4) return false;
  word += 4;
  if (!number(&word, 10, 31, &bit)) return false;
  f.bit = (uint8_t)bit;
  f.state = !strcmp(word, ":ymm") ? YMM : !strcmp(word, ":zmm") ? ZMM : NO_STATE;
  *ret = f;
  return f.state != NO_STATE || !*word;
}

#else

static const feature known[] = {
#if defined(__aarch64__)
    {"neon", 1, 0, 0, 1, NO_STATE},    {"dotprod", 1, 0, 0, 20, NO_STATE},
    {"sve", 1, 0, 0, 22, NO_STATE},    {"fp16", 1, 0, 0, 10, NO_STATE},
    {"i8mm", 2, 0, 0, 13, NO_STATE},   {"sve2", 2, 0, 0, 1, NO_STATE},
    {"svei8mm", 2, 0, 0, 9, NO_STATE}, {"bf16", 2, 0, 0, 14, NO_STATE},
#elif defined(__arm__)
    {"neon", 1, 0, 0, 12, NO_STATE},
    {"vfpv4", 1, 0, 0, 16, NO_STATE},
    {"vfpv3", 1, 0, 0, 13, NO_STATE},
#else
    {"none", 0, 0, 0, 0, NO_STATE},
#endif
};

static bool present(const feature *f) {
#if defined(ARM)
  unsigned long bits = f->leaf == 1 ? getauxval(AT_HWCAP) : f->leaf == 2 ? getauxval(AT_HWCAP2) : 0;
  return f->bit < 8 * sizeof bits && (bits >> f->bit & 1);
#else
  (void)f;
  return false;
#endif
}

static bool parse_raw(const char *word, feature *ret) {
  uint32_t leaf = !strncmp(word, "hwcap:", 6) ? 1 : !strncmp(word, "hwcap2:", 7) ? 2 : 0;
  if (!leaf) return false;
  uint32_t bit;
  word = strchr(word, ':') + 1;
  if (!number(&word, 10, 63, &bit) || *word) return false;
  *ret = (feature){.leaf = leaf, .bit = (uint8_t)bit};
  return true;
}

#endif

/* Whether a list of words, separated by spaces or commas, has this one. */
static bool listed(const char *list, const char *word) {
  size_t n = strlen(word);
  while (list && *list) {
    size_t length = strcspn(list, " ,");
    if (length == n && !memcmp(list, word, n)) return true;
    list += length + (list[length] != 0);
  }
  return false;
}

static bool usable(const char *word) {
  char room[KR_PATH_BYTES];
  if (listed(kr_environment("KRAFLA_CPU_MASK", room), word)) return false;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!strcmp(known[i].name, word)) return present(&known[i]);
  feature raw;
  return parse_raw(word, &raw) && present(&raw);
}

const char *kr_cpu_missing(const char *features, char *out, size_t size) {
  while (*features) {
    char word[64];
    size_t n = strcspn(features, " ");
    if (n) {
      size_t used = n < sizeof word ? n : sizeof word - 1;
      memcpy(word, features, used);
      word[used] = 0;
      if (n >= sizeof word || !usable(word)) return kr_printable(out, size, word, strlen(word));
    }
    features += n + (features[n] != 0);
  }
  return NULL;
}

static char found[512];

static void list_features(void) {
  size_t at = 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    size_t n = strlen(known[i].name);
    if (!usable(known[i].name) || at + n + 2 > sizeof found) continue;
    if (at) found[at++] = ' ';
    memcpy(found + at, known[i].name, n + 1);
    at += n;
  }
}

const char *kr_cpu_features(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, list_features);
  return found;
}
