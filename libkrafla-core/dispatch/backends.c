/* The backends of this machine: built-in ones and plug-ins, ranked, capped by an ISA if one is
 * asked for, and layered so that of those in use the highest ranking that has a kernel gives it. */
#include "dispatch/files.h"
#include "krafla_config.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BACKENDS = 256 }; /* in one directory; a bound, not a goal */

static kr_found *add(kr_backends *all, const char *name, const char *path) {
  if (all->n == MAX_BACKENDS) return NULL;
  kr_found *found = &all->found[all->n];
  found->name = kr_strdup(name), found->path = kr_strdup(path);
  if (!found->name || !found->path) {
    kr_free(found->name), kr_free(found->path);
    *found = (kr_found){0};
    return NULL;
  }
  all->n++;
  return found;
}

static bool add_builtin(kr_backends *all) {
  for (const kr_backend *const *b = kr_builtin_backends; *b; b++) {
    kr_found *found = add(all, (*b)->name, "");
    if (!found) return false;
    if (kr_backend_check(*b, NULL, found)) found->descriptor = *b;
  }
  return true;
}

/* "backend-avx2.so" gives "avx2" in name. */
static bool plugin_name(const char *file, char name[KR_FILE_NAME_BYTES]) {
  static const char prefix[] = "backend-", suffix[] = KR_PLUGIN_SUFFIX;
  size_t n = strlen(file), head = sizeof prefix - 1, tail = sizeof suffix - 1;
  if (n <= head + tail || n >= KR_FILE_NAME_BYTES || memcmp(file, prefix, head) ||
      memcmp(file + n - tail, suffix, tail))
    return false;
  n -= head + tail;
  memcpy(name, file + head, n);
  name[n] = 0;
  return true;
}

static bool add_plugin(void *data, const char *folder, const char *file) {
  kr_backends *all = data;
  char name[KR_FILE_NAME_BYTES], path[KR_PATH_BYTES], real[KR_PATH_BYTES];
  if (!plugin_name(file, name)) return true;
  if (snprintf(path, sizeof path, "%s%c%s", folder, KR_SEPARATOR, file) >= (int)sizeof path)
    return true;
  for (size_t i = 0; i < all->n; i++)
    if (all->found[i].descriptor && !strcmp(all->found[i].name, name) && !*all->found[i].path) {
      kr_found *twin = add(all, name, path);
      if (twin) snprintf(twin->reason, sizeof twin->reason, "built into the core");
      return twin != NULL;
    }
  kr_found *found = add(all, name, path);
  if (!found) return false;
  size_t n = strlen(folder);
  if (!kr_path_real(path, real))
    snprintf(found->reason, sizeof found->reason, "cannot be read: %s", strerror(errno));
  else if (strncmp(real, folder, n) || real[n] != KR_SEPARATOR)
    snprintf(found->reason, sizeof found->reason, "is a link to outside of its directory");
  else
    kr_plugin_open(path, name, found);
  return true;
}

/* The directory itself, when it cannot be searched, is reported in a line of its own. */
static bool search(kr_backends *all, const char *wanted) {
  char folder[KR_PATH_BYTES], reason[KR_REASON_BYTES] = "";
  if (!kr_path_is_absolute(wanted))
    snprintf(reason, sizeof reason, "backend directory is not an absolute path");
  else if (!kr_path_real(wanted, folder))
    snprintf(reason, sizeof reason, "backend directory: %s", strerror(errno));
  else if (kr_trusted(folder, true, reason) && kr_each_file(folder, add_plugin, all, reason))
    return true;
  if (!*reason) return all->n == MAX_BACKENDS; /* else memory is gone */
  kr_found *found = add(all, wanted, wanted);
  if (!found) return false;
  snprintf(found->reason, sizeof found->reason, "%s", reason);
  return true;
}

/* Usable ones by rank, highest first; then skipped ones; by name where that is equal. */
static int compare(const void *a, const void *b) {
  const kr_found *x = a, *y = b;
  int xr = x->descriptor ? x->descriptor->rank : -1, yr = y->descriptor ? y->descriptor->rank : -1;
  return xr != yr ? (xr < yr ? 1 : -1) : strcmp(x->name, y->name);
}

/* The ISA asked for, or "". */
static const char *asked_for(const kr_backends_options *options, char room[KR_PATH_BYTES]) {
  const char *isa = options ? options->isa : NULL;
  if (!isa) isa = kr_environment("KRAFLA_ISA", room);
  if (!isa) isa = kr_environment("ISA_LM_ISA", room);
  return isa ? isa : "";
}

/* The rank that must not be passed, from the ISA asked for. */
static int find_cap(const kr_backends *all, const char *isa, const char *folder, int *ret_cap,
                    kr_error *err) {
  *ret_cap = INT_MAX;
  if (!*isa) return KR_OK;
  const kr_found *skipped = NULL;
  for (size_t i = 0; i < all->n; i++) {
    const kr_found *found = &all->found[i];
    if (strcmp(found->name, isa)) continue;
    if (found->descriptor) return *ret_cap = found->descriptor->rank, KR_OK;
    skipped = found;
  }
  if (skipped && *skipped->missing)
    return kr_fail(err, KR_E_CPU, "CPU lacks %s required by ISA=%s", skipped->missing, isa);
  if (skipped)
    return kr_fail(err, KR_E_UNSUPPORTED, "ISA=%s: %s: %s", isa, skipped->path, skipped->reason);
  char names[256];
  size_t at = 0;
  for (size_t i = 0; i < all->n && at < sizeof names; i++)
    if (all->found[i].descriptor)
      at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at ? ", " : "",
                             all->found[i].name);
  return kr_fail(err, KR_E_ARGUMENT,
                 "ISA=%s: no backend of this name; there are %s, looked for in %s", isa, names,
                 folder);
}

static void layer(kr_backends *all, int cap) {
  for (size_t i = all->n; i-- > 0;) { /* lowest rank first */
    kr_found *found = &all->found[i];
    if (!found->descriptor || found->descriptor->rank > cap) continue;
    if (kr_table_layer(found->descriptor, &all->table, all->owners)) all->isa = found->name;
  }
}

static void describe(kr_backends *all, int cap, const char *isa) {
  for (size_t i = 0; i < all->n; i++) {
    kr_found *found = &all->found[i];
    const kr_backend *b = found->descriptor;
    kr_backend_info info = {.name = found->name,
                            .path = found->path,
                            .features = "",
                            .provenance = "",
                            .reason = found->reason,
                            .state = KR_BACKEND_SKIPPED};
    if (b) {
      info.features = b->features, info.provenance = b->provenance, info.rank = b->rank;
      info.kernels = b->kernels, info.state = KR_BACKEND_UNUSED;
      for (size_t k = 0; k < kr_kernel_count(); k++)
        if (all->owners[k] == b->name) info.state = KR_BACKEND_USED;
      if (b->rank > cap)
        snprintf(found->reason, sizeof found->reason, "above ISA=%s", isa);
      else if (info.state == KR_BACKEND_UNUSED)
        snprintf(found->reason, sizeof found->reason, "others give all its kernels");
    }
    found->info = info;
  }
}

static int fill(kr_backends *all, const kr_backends_options *options, kr_error *err) {
  int cap;
  char room[KR_PATH_BYTES];
  const char *isa = asked_for(options, room);
  all->found = kr_alloc(MAX_BACKENDS, sizeof *all->found);
  all->owners = kr_alloc(kr_kernel_count(), sizeof *all->owners);
  char *folder = kr_plugin_directory(options ? options->directory : NULL);
  bool ok = all->found && all->owners && folder && add_builtin(all) && search(all, folder);
  int code = ok ? KR_OK : kr_fail_memory(err, "backends");
  if (ok) {
    qsort(all->found, all->n, sizeof *all->found, compare);
    code = find_cap(all, isa, folder, &cap, err);
  }
  kr_free(folder);
  if (code) return code;
  all->table.struct_size = sizeof all->table;
  layer(all, cap);
  describe(all, cap, isa);
  return KR_OK;
}

int kr_backends_new(const kr_backends_options *options, kr_backends **ret_backends, kr_error *err) {
  kr_backends *all = kr_alloc(1, sizeof *all);
  if (!all) return kr_fail_memory(err, "backends");
  int code = fill(all, options, err);
  if (code) {
    kr_backends_free(all);
    return code;
  }
  *ret_backends = all;
  return KR_OK;
}

void kr_backends_free(kr_backends *all) {
  if (!all) return;
  for (size_t i = 0; i < all->n; i++) kr_free(all->found[i].name), kr_free(all->found[i].path);
  kr_free(all->found);
  kr_free(all->owners);
  kr_free(all);
}

size_t kr_backends_count(const kr_backends *all) {
  return all->n;
}

const kr_backend_info *kr_backends_get(const kr_backends *all, size_t i) {
  return i < all->n ? &all->found[i].info : NULL;
}

const char *kr_backends_isa(const kr_backends *all) {
  return all->isa;
}

const struct kr_kernels *kr_backends_table(const kr_backends *all) {
  return &all->table;
}

const char *kr_backends_owner(const kr_backends *all, size_t i) {
  return i < kr_kernel_count() ? all->owners[i] : NULL;
}
