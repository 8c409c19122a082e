/* open_source FILE: opens a model file, reads everything that its source gives out, and prints one
 * line about it; exit status 1, with the message on standard error, when it is refused.
 *
 * A tensor whose name ends in ".weight" but whose type holds no weights is refused here, as a model
 * refuses it when it binds its tensors: the container itself is then in order. */
#include "walk.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

static bool is_weight(kr_text name) {
  size_t n = strlen(".weight");
  return name.n > n && !memcmp(name.data + name.n - n, ".weight", n);
}

static int read_tensor(const kr_source *source, const kr_tensor *tensor, uint64_t *hash,
                       kr_error *err) {
  const kr_type_info *type = kr_type_get(tensor->type);
  char name[128];
  if (!type->dequantize && is_weight(tensor->name))
    return kr_fail(err, KR_E_UNSUPPORTED, "%s: tensor '%s' has the type %s, which holds no weights",
                   kr_source_path(source),
                   kr_printable(name, sizeof name, tensor->name.data, tensor->name.n), type->name);
  *hash += kr_walk_tensor(tensor);
  kr_source_release(source, tensor);
  return KR_OK;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: open_source FILE\n");
    return 2;
  }
#if defined(_WIN32) /* bytes as they are */
  _setmode(1, _O_BINARY), _setmode(2, _O_BINARY);
#endif
  kr_error err = {0};
  kr_source *source;
  if (kr_source_open(argv[1], &source, &err)) {
    fprintf(stderr, "error: %s\n", err.message);
    return 1;
  }
  uint64_t hash = kr_walk_values(source);
  size_t n = kr_source_n_tensors(source);
  int code = 0;
  for (size_t i = 0; i < n && !code; i++)
    code = read_tensor(source, kr_source_tensor_at(source, i), &hash, &err);
  if (code)
    fprintf(stderr, "error: %s\n", err.message);
  else
    printf("%zu keys, %zu tensors, hash %016" PRIx64 "\n", kr_source_n_values(source), n, hash);
  kr_source_close(source);
  return code ? 1 : 0;
}
