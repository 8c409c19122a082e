/* A libintl that translates nothing, for GLib on Windows (make-glib). libintl.h is for GLib. */

char *gettext(const char *message) {
  return (char *)message;
}

char *dgettext(const char *domain, const char *message) {
  (void)domain;
  return (char *)message;
}

char *dcgettext(const char *domain, const char *message, int category) {
  (void)domain, (void)category;
  return (char *)message;
}

char *ngettext(const char *one, const char *many, unsigned long n) {
  return (char *)(n == 1 ? one : many);
}

char *dngettext(const char *domain, const char *one, const char *many, unsigned long n) {
  (void)domain;
  return (char *)(n == 1 ? one : many);
}

char *textdomain(const char *domain) {
  return (char *)domain;
}

char *bindtextdomain(const char *domain, const char *folder) {
  (void)domain;
  return (char *)folder;
}

char *bind_textdomain_codeset(const char *domain, const char *codeset) {
  (void)domain;
  return (char *)codeset;
}
