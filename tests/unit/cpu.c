/* CPU features: names, raw words, what is refused, and the mask for tests. */
#include "base/cpu.h"
#include <glib.h>
#include <krafla/krafla.h>
#include <string.h>

static bool has(const char *features) {
  char missing[64];
  return !kr_cpu_missing(features, missing, sizeof missing);
}

static void expect_missing(const char *features, const char *word) {
  char out[64];
  const char *missing = kr_cpu_missing(features, out, sizeof out);
  g_assert_true(missing == out);
  g_assert_cmpstr(missing, ==, word);
}

static void test_words(void) {
  g_assert_true(has(""));
  g_assert_true(has("   "));
  expect_missing("warp-drive", "warp-drive");
  expect_missing("  no-such  other ", "no-such");
  expect_missing("bell\a", "bell\\x07");
  g_autofree char *listed = g_strdup(kr_cpu_features());
  g_assert_true(has(listed));
  g_autofree char *more = g_strconcat(listed, " warp-drive", NULL);
  expect_missing(more, "warp-drive");
  g_autofree char *longest = g_strnfill(500, 'x'), *shown = g_strnfill(63, 'x');
  char out[64];
  kr_cpu_missing(longest, out, sizeof out);
  g_assert_true(g_str_has_prefix(shown, "xxx") && g_str_has_prefix(out, "xxx"));
  g_assert_cmpuint(strlen(out), <, sizeof out);
}

#if defined(__x86_64__) || defined(__i386__)

static const char *const raw_of[][2] = {
    {"sse2", "cpuid:1:edx:26"},
    {"sse3", "cpuid:1:ecx:0"},
    {"ssse3", "cpuid:1:ecx:9"},
    {"sse4.1", "cpuid:1.0:ecx:19"},
    {"popcnt", "cpuid:1:ecx:23"},
    {"avx", "cpuid:1:ecx:28:ymm"},
    {"f16c", "cpuid:1:ecx:29:ymm"},
    {"fma", "cpuid:1:ecx:12:ymm"},
    {"avx2", "cpuid:7:ebx:5:ymm"},
    {"bmi2", "cpuid:7.0:ebx:8"},
    {"avx-vnni", "cpuid:7.1:eax:4:ymm"},
    {"avx512f", "cpuid:7:ebx:16:zmm"},
    {"avx512-vnni", "cpuid:7:ecx:11:zmm"},
    {"avx512-bf16", "cpuid:7.1:eax:5:zmm"},
};

static void test_raw(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(raw_of); i++) {
    g_test_message("%s: %d", raw_of[i][0], has(raw_of[i][0]));
    g_assert_cmpint(has(raw_of[i][0]), ==, has(raw_of[i][1]));
  }
  /* hexadecimal leaf; the vendor's extended leaf 80000001 has "long mode" in edx 29 */
#if defined(__x86_64__)
  g_assert_true(has("cpuid:80000001:edx:29"));
  g_assert_true(has("sse2 cpuid:1:edx:26"));
#endif
  expect_missing("cpuid:7f000000:eax:0", "cpuid:7f000000:eax:0"); /* past the last leaf */
  expect_missing("cpuid:7.ffff:eax:0", "cpuid:7.ffff:eax:0");
}

/* What looks nearly like a raw word must not be taken for another one. */
static void test_raw_malformed(void) {
  static const char *const words[] = {
      "cpuid",
      "cpuid:",
      "cpuid:1",
      "cpuid:1:edx",
      "cpuid:1:edx:",
      "cpuid::edx:26",
      "cpuid:1:edx:32",
      "cpuid:1:edx:256",
      "cpuid:1:edx:26x",
      "cpuid:1:edx:-6",
      "cpuid:1:edx:+26",
      "cpuid:1:efx:26",
      "cpuid:1:EDX:26",
      "cpuid:1.:edx:26",
      "cpuid:x:edx:26",
      "cpuid:1:edx:26:xmm",
      "cpuid:1:edx:26:",
      "cpuid:-1:edx:26",
      "cpuid:0x1:edx:26",
      "cpuid:100000001:edx:26",
      "CPUID:1:edx:26",
      "hwcap:0",
      "cpuid:1:edx:26:ymm:zmm",
      "cpuid:1:edx:99999999999999999999999",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
    g_test_message("%s", words[i]);
    expect_missing(words[i], words[i]);
  }
}

/* The compiler's own look at the CPU. */
static void test_compiler_agrees(void) {
#define AGREE(name) g_assert_cmpint(has(name), ==, __builtin_cpu_supports(name) != 0)
  __builtin_cpu_init();
  AGREE("sse2");
  AGREE("ssse3");
  AGREE("sse4.1");
  AGREE("avx");
  AGREE("avx2");
  AGREE("fma");
  AGREE("avx512f");
  AGREE("avx512bw");
  AGREE("avx512vl");
#undef AGREE
}

static void test_mask(void) {
  if (g_test_subprocess()) {
    g_assert_true(!has("sse2") && !has("cpuid:1:edx:26") && has("sse3"));
    g_assert_null(g_strstr_len(kr_cpu_features(), -1, "sse2 "));
    expect_missing("sse3 sse2", "sse2");
    return;
  }
  if (!has("sse2 sse3")) {
    g_test_skip("a CPU without SSE3");
    return;
  }
  g_setenv("KRAFLA_CPU_MASK", "avx2,sse2 cpuid:1:edx:26", TRUE);
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
  g_unsetenv("KRAFLA_CPU_MASK");
  g_test_trap_assert_passed();
}

#endif

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/cpu/words", test_words);
#if defined(__x86_64__) || defined(__i386__)
  g_test_add_func("/cpu/raw", test_raw);
  g_test_add_func("/cpu/raw-malformed", test_raw_malformed);
  g_test_add_func("/cpu/compiler-agrees", test_compiler_agrees);
  g_test_add_func("/cpu/mask", test_mask);
#endif
  return g_test_run();
}
