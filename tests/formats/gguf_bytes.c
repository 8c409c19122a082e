/* Makes the bytes of GGUF files. */
#include "gguf_bytes.h"
#include <string.h>
#if defined(G_OS_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

void kr_put_u8(GByteArray *out, uint8_t x) {
  g_byte_array_append(out, &x, 1);
}

void kr_put_u16(GByteArray *out, uint16_t x) {
  for (int i = 0; i < 2; i++) kr_put_u8(out, (uint8_t)(x >> 8 * i));
}

void kr_put_u32(GByteArray *out, uint32_t x) {
  for (int i = 0; i < 4; i++) kr_put_u8(out, (uint8_t)(x >> 8 * i));
}

void kr_put_u64(GByteArray *out, uint64_t x) {
  for (int i = 0; i < 8; i++) kr_put_u8(out, (uint8_t)(x >> 8 * i));
}

void kr_put_f32(GByteArray *out, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  kr_put_u32(out, bits);
}

void kr_put_text(GByteArray *out, const char *text) {
  kr_put_u64(out, strlen(text));
  g_byte_array_append(out, (const guint8 *)text, (guint)strlen(text));
}

static void pad(GByteArray *out, uint64_t alignment) {
  while (out->len % alignment) kr_put_u8(out, 0);
}

void kr_made_begin(kr_made *made, uint32_t version) {
  *made = (kr_made){.version = version,
                    .alignment = 32,
                    .keys = g_byte_array_new(),
                    .entries = g_byte_array_new(),
                    .data = g_byte_array_new()};
}

GBytes *kr_made_end(kr_made *made) {
  GByteArray *out = g_byte_array_new();
  g_byte_array_append(out, (const guint8 *)"GGUF", 4);
  kr_put_u32(out, made->version);
  kr_put_u64(out, made->n_tensors);
  kr_put_u64(out, made->n_keys);
  g_byte_array_append(out, made->keys->data, made->keys->len);
  g_byte_array_append(out, made->entries->data, made->entries->len);
  if (made->data->len) {
    pad(out, made->alignment);
    g_byte_array_append(out, made->data->data, made->data->len);
  }
  g_byte_array_unref(made->keys);
  g_byte_array_unref(made->entries);
  g_byte_array_unref(made->data);
  return g_byte_array_free_to_bytes(out);
}

void kr_made_key(kr_made *made, const char *key, kr_value_type type) {
  kr_put_text(made->keys, key);
  kr_put_u32(made->keys, (uint32_t)type);
  made->n_keys++;
}

void kr_made_string(kr_made *made, const char *key, const char *value) {
  kr_made_key(made, key, KR_VALUE_STRING);
  kr_put_text(made->keys, value);
}

void kr_made_u16(kr_made *made, const char *key, uint16_t value) {
  kr_made_key(made, key, KR_VALUE_U16);
  kr_put_u16(made->keys, value);
}

void kr_made_u32(kr_made *made, const char *key, uint32_t value) {
  kr_made_key(made, key, KR_VALUE_U32);
  kr_put_u32(made->keys, value);
}

void kr_made_array(kr_made *made, const char *key, kr_value_type element, uint64_t n) {
  kr_made_key(made, key, KR_VALUE_ARRAY);
  kr_put_u32(made->keys, (uint32_t)element);
  kr_put_u64(made->keys, n);
}

void kr_made_entry(kr_made *made, const char *name, uint32_t n_dims, const uint64_t *dims,
                   uint32_t type, uint64_t offset) {
  kr_put_text(made->entries, name);
  kr_put_u32(made->entries, n_dims);
  for (uint32_t i = 0; i < n_dims; i++) kr_put_u64(made->entries, dims[i]);
  kr_put_u32(made->entries, type);
  kr_put_u64(made->entries, offset);
  made->n_tensors++;
}

void kr_made_f32(kr_made *made, const char *name, uint64_t n, float first) {
  pad(made->data, made->alignment);
  kr_made_entry(made, name, 1, &n, KR_TYPE_F32, made->data->len);
  for (uint64_t i = 0; i < n; i++) kr_put_f32(made->data, first + (float)i);
}

GBytes *kr_made_sample(uint32_t version) {
  kr_made made;
  kr_made_begin(&made, version);
  kr_made_string(&made, "general.architecture", "llama");
  kr_made_u32(&made, "llama.block_count", 2);
  kr_made_u16(&made, "split.count", 0);
  kr_made_key(&made, "a.bool", KR_VALUE_BOOL);
  kr_put_u8(made.keys, 1);
  kr_made_key(&made, "a.f32", KR_VALUE_F32);
  kr_put_f32(made.keys, 0.5f);
  kr_made_key(&made, "a.i64", KR_VALUE_I64);
  kr_put_u64(made.keys, (uint64_t)-5);
  kr_made_array(&made, "a.tokens", KR_VALUE_STRING, 3);
  kr_put_text(made.keys, "a");
  kr_put_text(made.keys, "");
  kr_put_text(made.keys, "bc");
  kr_made_array(&made, "a.nested", KR_VALUE_ARRAY, 2);
  kr_put_u32(made.keys, KR_VALUE_U8);
  kr_put_u64(made.keys, 2);
  kr_put_u16(made.keys, 0x0201);
  kr_put_u32(made.keys, KR_VALUE_STRING);
  kr_put_u64(made.keys, 1);
  kr_put_text(made.keys, "x");
  kr_made_array(&made, "a.flags", KR_VALUE_BOOL, 2);
  kr_put_u16(made.keys, 0x0001);
  kr_made_u32(&made, "general.alignment", 32);
  kr_made_f32(&made, "norm.weight", 4, 1.0f);
  pad(made.data, 32);
  kr_made_entry(&made, "q.weight", 2, (uint64_t[]){32, 2}, KR_TYPE_Q8_0, made.data->len);
  for (int i = 0; i < 2 * 34; i++) kr_put_u8(made.data, (uint8_t)(i * 7));
  kr_made_f32(&made, "last.weight", 3, 9.0f);
  return kr_made_end(&made);
}

#if defined(G_OS_WIN32)

static size_t page_size(void) {
  SYSTEM_INFO info;
  GetSystemInfo(&info);
  return info.dwPageSize;
}

static void *new_pages(size_t bytes) {
  return VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static bool forbid(void *page, size_t bytes) {
  DWORD before;
  return VirtualProtect(page, bytes, PAGE_NOACCESS, &before) != 0;
}

static void free_pages(void *pages, size_t bytes) {
  (void)bytes;
  VirtualFree(pages, 0, MEM_RELEASE);
}

#else

static size_t page_size(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

static void *new_pages(size_t bytes) {
  void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

static bool forbid(void *page, size_t bytes) {
  return mprotect(page, bytes, PROT_NONE) == 0;
}

static void free_pages(void *pages, size_t bytes) {
  munmap(pages, bytes);
}

#endif

void kr_guarded_set(kr_guarded *guarded, const void *data, size_t size) {
  size_t page = page_size(), used = (size + page - 1) / page * page;
  guarded->pages_size = used + page;
  guarded->pages = new_pages(guarded->pages_size);
  g_assert_nonnull(guarded->pages);
  uint8_t *end = (uint8_t *)guarded->pages + used;
  g_assert_true(forbid(end, page));
  guarded->data = end - size, guarded->size = size;
  if (size) memcpy(guarded->data, data, size);
}

void kr_guarded_clear(kr_guarded *guarded) {
  free_pages(guarded->pages, guarded->pages_size);
}

void kr_expect_words(const kr_error *err, const char *start, const char *words) {
  g_assert_true(g_str_has_prefix(err->message, start));
  gchar **parts = g_strsplit(words, "|", -1);
  for (gchar **word = parts; *word; word++)
    if (!strstr(err->message, *word))
      g_error("'%s' is not in the message: %s", *word, err->message);
  g_strfreev(parts);
}

void kr_expect_refused(GBytes *bytes, int code, const char *words) {
  kr_guarded guarded;
  kr_guarded_set(&guarded, g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
  kr_source *source = NULL;
  kr_error err = {0};
  int got = kr_source_open_bytes("made.gguf", guarded.data, guarded.size, &source, &err);
  g_test_message("%s", err.message);
  g_assert_cmpint(got, ==, code);
  g_assert_cmpint(err.code, ==, code);
  g_assert_null(source);
  kr_expect_words(&err, "made.gguf: ", words);
  g_assert_cmpint(kr_source_open_bytes("made.gguf", guarded.data, guarded.size, &source, NULL), ==,
                  code);
  kr_guarded_clear(&guarded);
  g_bytes_unref(bytes);
}
