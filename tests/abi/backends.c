/* Finding, checking and layering backends, with plug-ins made to be wrong (plugins/).
 *
 * backends PLUGIN-FOLDER [TAP options] */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <krafla/backend.h>
#include <krafla/krafla.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(G_OS_WIN32)
#include <windows.h>
/* after windows.h */
#include <aclapi.h>
#include <sddl.h>
#define SUFFIX ".dll"
#else
#define SUFFIX ".so"
#endif

static char *plugins; /* where the build has put them */
static char *box;     /* of the running test: the backend directory, nothing else in it */
static char *mark;    /* the file that a loaded plug-in with a constructor writes */

/* ---- a directory of backends ---------------------------------------------------------------- */

static void remove_tree(const char *path) {
  GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *inner = g_build_filename(path, name, NULL);
    remove_tree(inner);
  }
  if (dir) g_dir_close(dir);
  g_remove(path);
}

static void open_box(void) {
  box = g_dir_make_tmp("krafla-box-XXXXXX", NULL);
  mark = g_strconcat(box, "-mark", NULL);
  g_setenv("KRAFLA_TEST_MARK", mark, TRUE);
  g_unsetenv("KRAFLA_BACKEND_DIR"), g_unsetenv("KRAFLA_ISA"), g_unsetenv("ISA_LM_ISA");
}

static void close_box(void) {
  remove_tree(box);
  g_unlink(mark);
  g_clear_pointer(&box, g_free);
  g_clear_pointer(&mark, g_free);
}

static char *in_box(const char *name) {
  return g_strdup_printf("%s/backend-%s" SUFFIX, box, name);
}

/* Copies plug-in from as backend-NAME.so into folder. */
static void copy_to(const char *folder, const char *from, const char *name) {
  g_autofree char *source = g_strdup_printf("%s/backend-%s" SUFFIX, plugins, from);
  g_autofree char *target = g_strdup_printf("%s/backend-%s" SUFFIX, folder, name);
  g_autofree char *data = NULL;
  gsize n = 0;
  g_autoptr(GError) error = NULL;
  g_file_get_contents(source, &data, &n, &error);
  g_assert_no_error(error);
  g_file_set_contents(target, data, (gssize)n, &error);
  g_assert_no_error(error);
  g_assert_cmpint(g_chmod(target, 0644), ==, 0);
}

static void put(const char *from) {
  copy_to(box, from, from);
}

static kr_backends *open_all(const char *directory, const char *isa) {
  kr_backends_options options = {.directory = directory, .isa = isa};
  kr_backends *all;
  kr_error err;
  if (kr_backends_new(&options, &all, &err)) g_error("%s", err.message);
  /* whatever was found: each kernel is there, and one of the backends in use gives it */
  g_assert_nonnull(kr_backends_isa(all));
  const char *table = (const char *)kr_backends_table(all) + offsetof(kr_kernels, vector_q4_0);
  for (size_t i = 0; i < kr_kernel_count(); i++) {
    void *kernel;
    memcpy(&kernel, table + i * sizeof kernel, sizeof kernel);
    g_assert_nonnull(kernel);
    g_assert_nonnull(kr_backends_owner(all, i));
  }
  return all;
}

static const kr_backend_info *info_of(const kr_backends *all, const char *name) {
  for (size_t i = 0; i < kr_backends_count(all); i++)
    if (!strcmp(kr_backends_get(all, i)->name, name)) return kr_backends_get(all, i);
  return NULL;
}

static const char *owner_of(const kr_backends *all, const char *kernel) {
  for (size_t i = 0; i < kr_kernel_count(); i++)
    if (!strcmp(kr_kernel_name(i), kernel)) return kr_backends_owner(all, i);
  g_error("no kernel %s", kernel);
}

/* 3 + 4 by the table's add: 7, or 7 + RANK from a plug-in of these. */
static float sum_of(const kr_backends *all) {
  float x = 3, y = 4;
  kr_backends_table(all)->add(&x, &y, 1);
  return x;
}

static void expect_state(const kr_backends *all, const char *name, int state, const char *reason) {
  const kr_backend_info *info = info_of(all, name);
  g_assert_nonnull(info);
  g_test_message("%s: %s", name, info->reason);
  g_assert_cmpint(info->state, ==, state);
  g_assert_nonnull(strstr(info->reason, reason));
  if (state == KR_BACKEND_USED) g_assert_cmpstr(info->reason, ==, "");
  if (state == KR_BACKEND_SKIPPED) g_assert_null(info->kernels);
}

/* The plug-in alone in the box is skipped, and everything works without it. */
static void expect_skipped(const char *name, const char *reason) {
  kr_backends *all = open_all(box, NULL);
  expect_state(all, name, KR_BACKEND_SKIPPED, reason);
  g_assert_true(sum_of(all) == 7);
  kr_backends_free(all);
}

/* ---- descriptors ---------------------------------------------------------------------------- */

static void test_wrong(void) {
  static const struct {
    const char *name, *reason;
  } cases[] = {
    {"magic", "not a Krafla backend (magic 0x4b524232)"},
    {"major", "made for backend ABI 2, this is 1"},
    {"numerics", "keeps numerics contract 2, this is 1"},
    {"short", "descriptor of "},
    {"huge", "descriptor of 2147483647 bytes"},
    {"noname", "null member"},
    {"nofeatures", "null member"},
    {"noprovenance", "null member"},
    {"notable", "null member"},
    {"emptyname", "name is empty"},
    {"tablezero", "kernel table of 0 bytes"},
    {"tableodd", "kernel table of "},
    {"tablehuge", "kernel table of 2147483640 bytes"},
    {"feature", "CPU lacks warp-drive"},
    {"nosymbol", "has no symbol krafla_backend"},
#if !defined(G_OS_WIN32)
    {"undefined", "krafla_test_no_such_function"},
#endif
#if defined(__x86_64__)
    {"rawmissing", "CPU lacks cpuid:7f000000:eax:0"},
#endif
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    open_box();
    put(cases[i].name);
    expect_skipped(cases[i].name, cases[i].reason);
    close_box();
  }
}

static void test_used(void) {
  static const char *const names[] = {
    "fine",
    "newer",
    "older",
#if defined(__x86_64__)
    "rawfeature",
#endif
  };
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    open_box();
    put(names[i]);
    kr_backends *all = open_all(box, NULL);
    expect_state(all, names[i], KR_BACKEND_USED, "");
    const kr_backend_info *info = info_of(all, names[i]);
    g_assert_cmpint(info->rank, ==, 1000);
    g_assert_cmpstr(info->provenance, ==, "1.0, MIT, tests");
    g_autofree char *path = in_box(names[i]), *file = g_path_get_basename(path);
    g_autofree char *found = g_path_get_basename(info->path);
    g_assert_cmpstr(found, ==, file);
    g_assert_cmpstr(kr_backends_isa(all), ==, names[i]);
    g_assert_cmpstr(owner_of(all, "add"), ==, names[i]);
    g_assert_true(sum_of(all) == 1007);
    /* the table of "older" ends before to_f16: what stands there is not looked at */
    bool has_to_f16 = strcmp(names[i], "older") != 0;
    g_assert_cmpint(!strcmp(owner_of(all, "to_f16"), names[i]), ==, has_to_f16);
    g_assert_cmpstr(owner_of(all, "rms_norm"), !=, names[i]);
    kr_backends_free(all);
    close_box();
  }
}

static void test_gives_nothing(void) {
  static const char *const names[] = {"nothing", "headonly"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    open_box();
    put(names[i]);
    kr_backends *all = open_all(box, NULL);
    expect_state(all, names[i], KR_BACKEND_UNUSED, "");
    g_assert_cmpstr(info_of(all, names[i])->reason, !=, "");
    g_assert_cmpstr(kr_backends_isa(all), ==, "scalar");
    kr_backends_free(all);
    put("high"); /* asked for by name, it still caps */
    all = open_all(box, names[i]);
    expect_state(all, names[i], KR_BACKEND_UNUSED, "");
    g_assert_cmpint(info_of(all, "high")->state, ==,
                    i ? KR_BACKEND_UNUSED : KR_BACKEND_USED); /* 1100: below 60000, above 1000 */
    if (i) expect_state(all, "high", KR_BACKEND_UNUSED, "above ISA=headonly");
    kr_backends_free(all);
    close_box();
  }
}

static void test_layers(void) {
  open_box();
  put("low"), put("fine"), put("high"), put("zero");
  kr_backends *all = open_all(box, NULL);
  g_assert_cmpstr(kr_backends_isa(all), ==, "high");
  g_assert_true(sum_of(all) == 1107);
  g_assert_cmpstr(owner_of(all, "to_f16"), ==, "fine");
  g_assert_cmpstr(owner_of(all, "softmax"), ==, "scalar");
  expect_state(all, "low", KR_BACKEND_UNUSED, "others give all its kernels");
  expect_state(all, "zero", KR_BACKEND_UNUSED, "others give all its kernels");
  expect_state(all, "scalar", KR_BACKEND_USED, "");
  for (size_t i = 1; i < kr_backends_count(all); i++)
    g_assert_cmpint(kr_backends_get(all, i - 1)->rank, >=, kr_backends_get(all, i)->rank);
  kr_backends_free(all);
  all = open_all(box, "fine");
  g_assert_cmpstr(kr_backends_isa(all), ==, "fine");
  g_assert_true(sum_of(all) == 1007);
  expect_state(all, "high", KR_BACKEND_UNUSED, "above ISA=fine");
  kr_backends_free(all);
  all = open_all(box, "scalar");
  g_assert_cmpint(info_of(all, "zero")->rank, ==, 0); /* as scalar: under the same cap */
  expect_state(all, "low", KR_BACKEND_UNUSED, "above ISA=scalar");
  kr_backends_free(all);
  close_box();
}

static void test_built_in_name(void) {
  open_box();
  put("scalar");
  kr_backends *all = open_all(box, NULL);
  g_assert_true(sum_of(all) == 7);
  g_assert_cmpstr(info_of(all, "scalar")->path, ==, ""); /* the first of the name is the core's */
  bool found = false;
  for (size_t i = 0; i < kr_backends_count(all); i++) {
    const kr_backend_info *info = kr_backends_get(all, i);
    if (!*info->path) continue;
    g_assert_cmpint(info->state, ==, KR_BACKEND_SKIPPED);
    g_assert_cmpstr(info->reason, ==, "built into the core");
    found = true;
  }
  g_assert_true(found);
  kr_backends_free(all);
  all = open_all(box, "scalar");
  g_assert_cmpstr(kr_backends_isa(all), ==, "scalar");
  kr_backends_free(all);
  close_box();
}

static void test_name_differs(void) {
  open_box();
  copy_to(box, "fine", "other");
  expect_skipped("other", "its name is fine, but its file's is other");
  close_box();
}

/* ---- the ISA asked for ---------------------------------------------------------------------- */

static void expect_failure(const char *isa, int code, const char *message) {
  kr_backends_options options = {.directory = box, .isa = isa};
  kr_backends *all = NULL;
  kr_error err = {0};
  g_assert_cmpint(kr_backends_new(&options, &all, &err), ==, code);
  g_assert_null(all);
  g_test_message("%s", err.message);
  g_assert_nonnull(strstr(err.message, message));
}

static void test_isa_errors(void) {
  open_box();
  put("feature"), put("magic"), put("fine");
  expect_failure("feature", KR_E_CPU, "CPU lacks warp-drive required by ISA=feature");
  kr_backends_options options = {.directory = box, .isa = "feature"};
  kr_error err;
  kr_backends *all;
  g_assert_cmpint(kr_backends_new(&options, &all, &err), ==, KR_E_CPU);
  g_assert_cmpstr(err.message, ==, "CPU lacks warp-drive required by ISA=feature");
  expect_failure("magic", KR_E_UNSUPPORTED, "magic 0x4b524232");
  expect_failure("nonsense", KR_E_ARGUMENT, "ISA=nonsense");
  expect_failure("nonsense", KR_E_ARGUMENT, "fine");
  expect_failure("FINE", KR_E_ARGUMENT, "ISA=FINE");
  g_setenv("KRAFLA_ISA", "feature", TRUE);
  expect_failure(NULL, KR_E_CPU, "CPU lacks warp-drive required by ISA=feature");
  close_box();
}

static void expect_isa(const char *isa, const char *krafla_isa, const char *older,
                       const char *want) {
  g_unsetenv("KRAFLA_ISA"), g_unsetenv("ISA_LM_ISA");
  if (krafla_isa) g_setenv("KRAFLA_ISA", krafla_isa, TRUE);
  if (older) g_setenv("ISA_LM_ISA", older, TRUE);
  kr_backends *all = open_all(box, isa);
  g_assert_cmpstr(kr_backends_isa(all), ==, want);
  kr_backends_free(all);
}

static void test_isa_sources(void) {
  open_box();
  put("low"), put("fine"), put("high");
  expect_isa(NULL, NULL, NULL, "high");
  expect_isa("low", NULL, NULL, "low");
  expect_isa(NULL, "fine", NULL, "fine");
  expect_isa(NULL, NULL, "low", "low");
  expect_isa(NULL, "fine", "low", "fine"); /* the newer spelling goes first */
  expect_isa("low", "fine", "scalar", "low");
  expect_isa(NULL, "", NULL, "high");
  expect_isa("", NULL, NULL, "high");
  close_box();
}

/* ---- files that are no plug-ins ------------------------------------------------------------- */

static void test_no_plugin(void) {
  open_box();
  g_autofree char *text = in_box("text"), *empty = in_box("empty"), *folder = in_box("folder");
  g_autofree char *cut = in_box("cut"), *half = in_box("half");
  gsize bytes;
  g_assert_true(g_file_set_contents(text, "hello\n", -1, NULL));
  g_assert_true(g_file_set_contents(empty, "", 0, NULL));
  g_assert_cmpint(g_mkdir(folder, 0755), ==, 0);
  put("fine");
  g_autofree char *fine = in_box("fine"), *data = NULL;
  g_assert_true(g_file_get_contents(fine, &data, &bytes, NULL));
  g_assert_true(g_file_set_contents(cut, data, 500, NULL));
  g_assert_true(g_file_set_contents(half, data, (gssize)bytes / 2, NULL));
  static const char *const ignored[] = {
      "backend-" SUFFIX,     "backend-x" SUFFIX ".1", "backend-x.txt", "x" SUFFIX,
      "libbackend-x" SUFFIX, "backend" SUFFIX,        SUFFIX};
  for (size_t i = 0; i < G_N_ELEMENTS(ignored); i++) {
    g_autofree char *path = g_build_filename(box, ignored[i], NULL);
    g_assert_true(g_file_set_contents(path, "x", 1, NULL));
  }
  kr_backends *all = open_all(box, NULL);
  expect_state(all, "text", KR_BACKEND_SKIPPED, "cannot be loaded: ");
  expect_state(all, "empty", KR_BACKEND_SKIPPED, "cannot be loaded: ");
  expect_state(all, "cut", KR_BACKEND_SKIPPED, "cannot be loaded: the file is cut short");
  expect_state(all, "half", KR_BACKEND_SKIPPED, "cannot be loaded: the file is cut short");
  expect_state(all, "folder", KR_BACKEND_SKIPPED, "is not a regular file");
  expect_state(all, "fine", KR_BACKEND_USED, "");
  size_t builtin = 0;
  for (size_t i = 0; i < kr_backends_count(all); i++) builtin += !*kr_backends_get(all, i)->path;
  g_assert_cmpuint(kr_backends_count(all), ==, builtin + 6);
  kr_backends_free(all);
  close_box();
}

/* fine, but for another machine by its header, or of another system. */
static void test_other_machine(void) {
  open_box();
  put("fine");
  g_autofree char *fine = in_box("fine"), *other = in_box("other"), *foreign = in_box("foreign");
  g_autofree char *data = NULL;
  gsize bytes;
  g_assert_true(g_file_get_contents(fine, &data, &bytes, NULL));
  g_remove(fine);
#if defined(G_OS_WIN32)
  guint32 at;
  memcpy(&at, data + 60, sizeof at); /* where the PE header begins */
  g_assert_cmpuint(at, <, bytes - 6);
  data[at + 4] = 0x64, data[at + 5] = (char)0xaa;
  static const char reason[] = "is for another machine (AArch64, PE machine 0xaa64)";
  static const char elf[] = "\177ELF\2\1\1";
  g_assert_true(g_file_set_contents(foreign, elf, sizeof elf, NULL));
  expect_skipped("foreign", "is for another system (an ELF file)");
#else
  data[18] = (char)0xf3, data[19] = 0; /* e_machine; 243 in little endian */
  static const char reason[] = "is for another machine (RISC-V, ELF machine 243)";
  g_assert_true(g_file_set_contents(foreign, "MZ\x90", 3, NULL));
  expect_skipped("foreign", "cannot be loaded: ");
#endif
  g_assert_true(g_file_set_contents(other, data, (gssize)bytes, NULL));
  expect_skipped("other", reason);
  close_box();
}

#if !defined(G_OS_WIN32)

/* Kinds of files that Windows does not have. */
static void test_no_file(void) {
  open_box();
  put("fine");
  g_autofree char *fifo = in_box("fifo"), *dangling = in_box("dangling");
  g_assert_cmpint(mkfifo(fifo, 0644), ==, 0);
  g_assert_cmpint(symlink("backend-nowhere.so", dangling), ==, 0);
  kr_backends *all = open_all(box, NULL);
  expect_state(all, "fifo", KR_BACKEND_SKIPPED, "is not a regular file");
  expect_state(all, "dangling", KR_BACKEND_SKIPPED, g_strerror(ENOENT));
  expect_state(all, "fine", KR_BACKEND_USED, "");
  kr_backends_free(all);
  close_box();
}

static void test_unreadable(void) {
  open_box();
  put("fine");
  g_autofree char *path = in_box("fine");
  g_assert_cmpint(chmod(path, 0), ==, 0);
  if (!access(path, R_OK))
    g_test_skip("this user may read everything");
  else
    expect_skipped("fine", "cannot be loaded: ");
  close_box();
}

static void test_links(void) {
  open_box();
  put("fine");
  g_autofree char *outside = g_dir_make_tmp("krafla-outside-XXXXXX", NULL);
  copy_to(outside, "mark", "mark");
  g_autofree char *target = g_build_filename(outside, "backend-mark.so", NULL);
  g_autofree char *link = in_box("mark"), *alias = in_box("alias");
  g_assert_cmpint(symlink(target, link), ==, 0);
  g_assert_cmpint(symlink("backend-fine.so", alias), ==, 0);
  kr_backends *all = open_all(box, NULL);
  expect_state(all, "mark", KR_BACKEND_SKIPPED, "is a link to outside of its directory");
  expect_state(all, "alias", KR_BACKEND_SKIPPED, "its name is fine");
  expect_state(all, "fine", KR_BACKEND_USED, "");
  g_assert_false(g_file_test(mark, G_FILE_TEST_EXISTS));
  kr_backends_free(all);
  remove_tree(outside);
  close_box();
}

#endif

/* More files than anybody has: nothing breaks. */
static void test_crowd(void) {
  open_box();
  for (int i = 0; i < 400; i++) {
    g_autofree char *name = g_strdup_printf("crowd%d", i), *path = in_box(name);
    g_assert_true(g_file_set_contents(path, "x", 1, NULL));
  }
  kr_backends *all = open_all(box, NULL);
  g_assert_cmpuint(kr_backends_count(all), >, 200);
  g_assert_cmpstr(kr_backends_isa(all), ==, "scalar");
  kr_backends_free(all);
  close_box();
}

/* ---- whose code may run --------------------------------------------------------------------- */

static bool was_loaded(void) {
  bool loaded = g_file_test(mark, G_FILE_TEST_EXISTS);
  g_unlink(mark);
  return loaded;
}

/* The mark works: a plug-in that may be loaded leaves it. */
static void test_mark(void) {
  open_box();
  put("mark");
  kr_backends *all = open_all(box, NULL);
  expect_state(all, "mark", KR_BACKEND_USED, "");
  g_assert_true(was_loaded());
  kr_backends_free(all);
  close_box();
}

#if defined(G_OS_WIN32)

/* Sets the list of rights, in the system's notation. */
static void set_rights(const char *path, const char *rights) {
  g_autofree wchar_t *wide = (wchar_t *)g_utf8_to_utf16(path, -1, NULL, NULL, NULL);
  PSECURITY_DESCRIPTOR descriptor;
  BOOL present, defaulted;
  ACL *list;
  g_assert_true(ConvertStringSecurityDescriptorToSecurityDescriptorA(rights, SDDL_REVISION_1,
                                                                     &descriptor, NULL));
  g_assert_true(GetSecurityDescriptorDacl(descriptor, &present, &list, &defaulted));
  g_assert_cmpuint(SetNamedSecurityInfoW(wide, SE_FILE_OBJECT, DACL_SECURITY_INFORMATION, NULL,
                                         NULL, list, NULL),
                   ==, 0);
  LocalFree(descriptor);
}

static void test_writable_by_others(void) {
  static const char mine[] = "D:(A;;FA;;;BA)(A;;FA;;;SY)(A;;FR;;;WD)";
  static const char everybodys[] = "D:(A;;FA;;;BA)(A;;FA;;;WD)";
  open_box();
  put("mark");
  g_autofree char *path = in_box("mark");
  set_rights(path, everybodys);
  expect_skipped("mark", "file is writable by others (everyone)");
  set_rights(path, mine);
  set_rights(box, everybodys);
  expect_skipped(box, "directory is writable by others (everyone)");
  g_assert_false(was_loaded());
  close_box();
}

#else

static void test_writable_by_others(void) {
  open_box();
  put("mark");
  g_autofree char *path = in_box("mark");
  g_assert_cmpint(chmod(path, 0666), ==, 0);
  expect_skipped("mark", "file is writable by others (mode 0666)");
  g_assert_false(was_loaded());
  g_assert_cmpint(chmod(path, 0644), ==, 0);
  g_assert_cmpint(chmod(box, 0777), ==, 0);
  expect_skipped(box, "directory is writable by others (mode 0777)");
  g_assert_cmpint(chmod(box, 01777), ==, 0);
  expect_skipped(box, "directory is writable by others (mode 1777)");
  g_assert_false(was_loaded());
  close_box();
}

static void test_other_owner(void) {
  open_box();
  put("mark");
  g_autofree char *path = in_box("mark");
  if (chown(path, 65534, 65534)) {
    g_test_skip("only root can give files away");
  } else {
    expect_skipped("mark", "file is owned by another user (uid 65534)");
    g_assert_cmpint(chown(path, 0, 0), ==, 0);
    g_assert_cmpint(chown(box, 65534, 65534), ==, 0);
    expect_skipped(box, "directory is owned by another user (uid 65534)");
    g_assert_false(was_loaded());
  }
  close_box();
}

#endif

/* A backend in the working directory is never opened, by any name for that directory. */
static void test_working_directory(void) {
  open_box();
  g_autofree char *before = g_get_current_dir();
  static const char *const names[] = {"mark", "avx2", "sse2", "scalar", "avx512vnni"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) copy_to(box, "mark", names[i]);
  g_assert_cmpint(g_chdir(box), ==, 0);
  static const char *const relative[] = {"", ".", "./", "..", "../", "backends"};
  for (size_t i = 0; i < G_N_ELEMENTS(relative); i++) {
    kr_backends *all = open_all(relative[i], NULL);
    expect_state(all, relative[i], KR_BACKEND_SKIPPED, "not an absolute path");
    kr_backends_free(all);
    g_setenv("KRAFLA_BACKEND_DIR", relative[i], TRUE);
    all = open_all(NULL, NULL);
    expect_state(all, relative[i], KR_BACKEND_SKIPPED, "not an absolute path");
    kr_backends_free(all);
  }
  g_unsetenv("KRAFLA_BACKEND_DIR");
  g_setenv("LD_LIBRARY_PATH", ".", TRUE);
  kr_backends *all = open_all(NULL, NULL); /* where they are installed, wherever that is */
  g_assert_null(info_of(all, "mark"));
  kr_backends_free(all);
  g_unsetenv("LD_LIBRARY_PATH");
  g_assert_false(was_loaded());
  g_assert_cmpint(g_chdir(before), ==, 0);
  close_box();
}

/* Prints where backends are looked for by default. */
static int print_default(void) {
  kr_backends *all;
  if (kr_backends_new(NULL, &all, NULL)) return 1;
  for (size_t i = 0; i < kr_backends_count(all); i++)
    g_print("[%s]\n", kr_backends_get(all, i)->path);
  kr_backends_free(all);
  return 0;
}

#if !defined(G_OS_WIN32) /* which always knows a program's path */

/* A program with the core linked in, started by a name without a path: a folder of the working
 * directory that looks like the program's own is none. */
static void test_working_directory_by_name(void) {
  open_box();
  g_autofree char *folder = g_build_filename(box, "krafla", "backends-1", NULL);
  g_autofree char *twin = g_build_filename(box, "some-program", NULL);
  g_autofree char *output = NULL;
  g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
  g_assert_true(g_file_set_contents(twin, "x", 1, NULL));
  copy_to(folder, "mark", "mark");
  const char *argv[] = {"/proc/self/exe", "some-program", plugins, "--print-default", NULL};
  g_autofree char *self = g_file_read_link(argv[0], NULL);
  g_autoptr(GError) error = NULL;
  if (g_str_has_suffix(self, ".emulated")) { /* tools/cross/launchers */
    g_test_skip("an emulated program cannot start itself by another name");
    close_box();
    return;
  }
  int status = 0;
  argv[0] = self;
  g_spawn_sync(box, (char **)argv, NULL, G_SPAWN_FILE_AND_ARGV_ZERO, NULL, NULL, &output, NULL,
               &status, &error);
  g_assert_no_error(error);
  g_assert_true(g_spawn_check_wait_status(status, NULL));
  g_test_message("%s", output);
  g_assert_nonnull(strstr(output, "[]"));
  g_assert_null(strstr(output, box));
  g_assert_false(was_loaded());
  close_box();
}

#endif

/* ---- directories ---------------------------------------------------------------------------- */

static void test_no_backends(void) {
  open_box();
  kr_backends *all = open_all(box, NULL);
  g_assert_true(sum_of(all) == 7);
  for (size_t i = 0; i < kr_backends_count(all); i++)
    g_assert_cmpstr(kr_backends_get(all, i)->path, ==, "");
  kr_backends_free(all);
  g_autofree char *missing = g_build_filename(box, "missing", NULL);
  all = open_all(missing, NULL);
  expect_state(all, missing, KR_BACKEND_SKIPPED, g_strerror(ENOENT));
  kr_backends_free(all);
  g_autofree char *file = g_build_filename(box, "file", NULL);
  g_assert_true(g_file_set_contents(file, "x", 1, NULL));
  all = open_all(file, NULL);
  expect_state(all, file, KR_BACKEND_SKIPPED, "is not a directory");
  kr_backends_free(all);
  close_box();
}

static void test_directory_sources(void) {
  open_box();
  put("fine");
  g_setenv("KRAFLA_BACKEND_DIR", box, TRUE);
  kr_backends *all = open_all(NULL, NULL);
  expect_state(all, "fine", KR_BACKEND_USED, "");
  kr_backends_free(all);
  g_autofree char *other = g_dir_make_tmp("krafla-other-XXXXXX", NULL);
  copy_to(other, "low", "low");
  all = open_all(other, NULL); /* the option goes first */
  expect_state(all, "low", KR_BACKEND_USED, "");
  g_assert_null(info_of(all, "fine"));
  kr_backends_free(all);
  g_autofree char *name = g_path_get_basename(other);
  g_autofree char *roundabout = g_strconcat(other, "/./../", name, "//", NULL);
  all = open_all(roundabout, NULL);
  expect_state(all, "low", KR_BACKEND_USED, "");
  kr_backends_free(all);
  remove_tree(other);
  close_box();
}

static void test_names_and_ends(void) {
  open_box();
  kr_backends *all = open_all(box, NULL);
  g_assert_cmpuint(kr_kernel_count(), ==, 22);
  g_assert_cmpstr(kr_kernel_name(0), ==, "vector_q4_0");
  g_assert_cmpstr(kr_kernel_name(21), ==, "values_q8");
  g_assert_null(kr_kernel_name(22));
  g_assert_null(kr_kernel_name(SIZE_MAX));
  g_assert_null(kr_backends_owner(all, 22));
  g_assert_null(kr_backends_get(all, kr_backends_count(all)));
  kr_backends_free(all);
  kr_backends_free(NULL);
  close_box();
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  if (argc < 2) g_error("usage: backends PLUGIN-FOLDER");
  plugins = argv[1];
  if (argc > 2 && !strcmp(argv[2], "--print-default")) return print_default();
  g_test_add_func("/abi/wrong", test_wrong);
  g_test_add_func("/abi/used", test_used);
  g_test_add_func("/abi/gives-nothing", test_gives_nothing);
  g_test_add_func("/abi/layers", test_layers);
  g_test_add_func("/abi/built-in-name", test_built_in_name);
  g_test_add_func("/abi/name-differs", test_name_differs);
  g_test_add_func("/abi/isa-errors", test_isa_errors);
  g_test_add_func("/abi/isa-sources", test_isa_sources);
  g_test_add_func("/abi/no-plugin", test_no_plugin);
  g_test_add_func("/abi/other-machine", test_other_machine);
  g_test_add_func("/abi/crowd", test_crowd);
  g_test_add_func("/abi/mark", test_mark);
  g_test_add_func("/abi/writable-by-others", test_writable_by_others);
  g_test_add_func("/abi/working-directory", test_working_directory);
#if !defined(G_OS_WIN32)
  g_test_add_func("/abi/no-file", test_no_file);
  g_test_add_func("/abi/unreadable", test_unreadable);
  g_test_add_func("/abi/links", test_links);
  g_test_add_func("/abi/other-owner", test_other_owner);
  g_test_add_func("/abi/working-directory-by-name", test_working_directory_by_name);
#endif
  g_test_add_func("/abi/no-backends", test_no_backends);
  g_test_add_func("/abi/directory-sources", test_directory_sources);
  g_test_add_func("/abi/names-and-ends", test_names_and_ends);
  return g_test_run();
}
