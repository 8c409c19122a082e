/* The library's version. */
#include "krafla_config.h"
#include <krafla/krafla.h>

const char *kr_version(void) { return KR_VERSION; }
