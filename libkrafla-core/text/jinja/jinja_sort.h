/* Sorting of values. */
#ifndef KR_TEXT_JINJA_SORT_H
#define KR_TEXT_JINJA_SORT_H

#include "text/jinja/jinja_value.h"

/* Sorts items by keys (as many), stably, both in place; reverse keeps equal ones in order, as
 * Python's sorted does. TypeError when two keys have no order. */
bool kr_jsort(kr_jctx *c, kr_jlist *items, kr_jlist *keys, bool reverse);

#endif
