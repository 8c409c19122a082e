/* Operands in memory of their own: a guard page on either side, poison between. */
#include "check.h"
#include "check_system.h"
#include <stdlib.h>
#include <string.h>

enum { POISON = 0xAA };

int64_t kr_check_element_bytes(kr_check_element element) {
  return element == KR_CHECK_I8 ? 1 : element == KR_CHECK_U16 ? 2 : 4;
}

bool kr_check_buffer_new(kr_check_buffer *buffer, kr_check_random *random, const char *name,
                         kr_check_element element, int64_t n, size_t align) {
  size_t page = kr_check_page_bytes(), size = (size_t)kr_check_element_bytes(element);
  if (align == 0) align = size;
  memset(buffer, 0, sizeof *buffer);
  buffer->name = name;
  buffer->element = element;
  buffer->bytes = (size_t)n * size;
  buffer->page_bytes = (buffer->bytes + 256 + page - 1) / page * page;
  buffer->map_bytes = buffer->page_bytes + 2 * page;
  buffer->map = kr_check_pages_new(buffer->map_bytes);
  if (!buffer->map) return false;
  buffer->pages = buffer->map + page;
  if (!kr_check_pages_allow(buffer->pages, buffer->page_bytes, true)) return false;
  memset(buffer->pages, POISON, buffer->page_bytes);
  size_t free_bytes = buffer->page_bytes - buffer->bytes, place = (size_t)kr_check_below(random, 4);
  size_t odd = 64 + align * (size_t)kr_check_below(random, (int64_t)(64 / align));
  buffer->data = buffer->pages + (place < 2 ? free_bytes / align * align : place == 2 ? 0 : odd);
  return true;
}

bool kr_check_buffer_seal(kr_check_buffer *buffer, bool written) {
  if (!written) return kr_check_pages_allow(buffer->pages, buffer->page_bytes, false);
  buffer->initial = malloc(buffer->page_bytes);
  buffer->expected = malloc(buffer->page_bytes);
  if (!buffer->initial || !buffer->expected) return false;
  memcpy(buffer->initial, buffer->pages, buffer->page_bytes);
  return true;
}

void kr_check_buffer_clear(kr_check_buffer *buffer) {
  kr_check_pages_free(buffer->map, buffer->map_bytes);
  free(buffer->initial);
  free(buffer->expected);
  memset(buffer, 0, sizeof *buffer);
}
