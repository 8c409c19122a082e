/* Files that are no model: what they look like, so that the message tells what went wrong. */
#include "formats/reader.h"
#include <stdio.h>
#include <string.h>

static const struct {
  const char *magic;
  size_t n;
  const char *what;
} signatures[] = {
    {"GGML", 4, "an old GGML file (from before GGUF); convert the original model to GGUF"},
    {"lmgg", 4, "an old GGML file (from before GGUF); convert the original model to GGUF"},
    {"fmgg", 4, "an old GGMF file (from before GGUF); convert the original model to GGUF"},
    {"tjgg", 4, "an old GGJT file (from before GGUF); convert the original model to GGUF"},
    {"algg", 4, "an old GGLA adapter (from before GGUF)"},
    {"FUGG", 4, "a GGUF file in the other byte order; convert it to little-endian first"},
    {"version https://git-lfs", 23,
     "a Git LFS pointer, not the file itself (git lfs pull gets it)"},
    {"\x89PNG", 4, "a PNG image"},
    {"\xff\xd8\xff", 3, "a JPEG image"},
    {"%PDF", 4, "a PDF document"},
    {"PK\x03\x04", 4, "a ZIP archive (a PyTorch checkpoint?)"},
    {"\x1f\x8b", 2, "gzip-compressed; unpack it first"},
    {"\x28\xb5\x2f\xfd", 4, "Zstandard-compressed; unpack it first"},
    {"\xfd"
     "7zXZ",
     5, "xz-compressed; unpack it first"},
    {"BZh", 3, "bzip2-compressed; unpack it first"},
    {"7z\xbc\xaf", 4, "a 7-Zip archive; unpack it first"},
    {"\x7f"
     "ELF",
     4, "a program or library"},
    {"#!", 2, "a script"},
    {"\x93NUMPY", 6, "a NumPy array"},
    {"\x89HDF", 4, "an HDF5 file"},
    {"{", 1, "JSON text"},
    {"<", 1, "an HTML or XML page (a failed download?)"},
    {"\0\0\0\0", 4, "zero bytes (an incomplete download?)"},
};

/* A safetensors file begins with the length of a JSON object. */
static bool is_safetensors(const kr_mapping *file) {
  return file->size > 9 && file->data[8] == '{' && kr_load_u64(file->data) <= file->size - 8;
}

int kr_fail_foreign(const kr_mapping *file, kr_error *err) {
  if (!file->size) return kr_fail(err, KR_E_FORMAT, "the file is empty");
  if (file->size < 4 && !memcmp(file->data, "GGUF", file->size))
    return kr_fail(err, KR_E_FORMAT,
                   "the file is truncated: %zu of the 4 bytes of its magic are there", file->size);
  if (is_safetensors(file))
    return kr_fail(err, KR_E_UNSUPPORTED,
                   "is not a GGUF file: it looks like safetensors, of which a model is the whole "
                   "folder");
  size_t skip = 0; /* white space, before what may be text */
  while (skip < 64 && skip < file->size && strchr(" \t\r\n", file->data[skip]) && file->data[skip])
    skip++;
  const uint8_t *data = file->data + skip;
  size_t size = file->size - skip;
  for (size_t i = 0; i < sizeof signatures / sizeof *signatures; i++)
    if (size >= signatures[i].n && !memcmp(data, signatures[i].magic, signatures[i].n))
      return kr_fail(err, KR_E_FORMAT, "is not a GGUF file: it looks like %s", signatures[i].what);
  char hex[16] = "";
  size_t shown = file->size < 4 ? file->size : 4;
  for (size_t i = 0; i < shown; i++) (void)snprintf(hex + 3 * i, 4, " %02x", file->data[i]);
  return kr_fail(err, KR_E_FORMAT,
                 "is not a GGUF file: it begins with '%.*s' (%s), not with the magic 'GGUF'",
                 (int)shown, (const char *)file->data, hex + 1);
}
