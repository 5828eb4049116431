#define _GNU_SOURCE
#include "CPiconetActors.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// What Swift's runtime looks up for `executeDistributedTarget`. Each word but the last is the distance from itself to
// what it points to.
struct accessible_function {
  int32_t name, generics, type, function;
  uint32_t flags;
};

enum { distributed = 1, longest_name = 4096 };

// The linker names both ends of a section whose name is a word of C. There are none without distributed methods.
extern const struct accessible_function first[] __asm__("__start_swift5_accessible_functions")
    __attribute__((weak, visibility("hidden")));
extern const struct accessible_function end[] __asm__("__stop_swift5_accessible_functions")
    __attribute__((weak, visibility("hidden")));

long piconet_distributed_method_count(void) {
  if (!first) return 0;
  ptrdiff_t size = (const char *)end - (const char *)first;
  return size > 0 && size % (ptrdiff_t)sizeof(struct accessible_function) == 0 ? (long)(end - first) : 0;
}

struct search {
  uintptr_t list, name;
  /// Bytes from the name to the end of what is mapped there, if that is the image of the list.
  size_t readable;
};

static int search_image(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  int has_list = 0;
  size_t readable = 0;
  for (int index = 0; index < image->dlpi_phnum; index++) {
    const ElfW(Phdr) *segment = &image->dlpi_phdr[index];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R)) continue;
    uintptr_t start = image->dlpi_addr + segment->p_vaddr;
    if (search->list - start < segment->p_memsz) has_list = 1;
    if (search->name - start < segment->p_memsz) readable = segment->p_memsz - (search->name - start);
  }
  if (!has_list) return 0;
  search->readable = readable;
  return 1;
}

const char *piconet_distributed_method_name(long index) {
  if (index < 0 || index >= piconet_distributed_method_count()) return NULL;
  const struct accessible_function *entry = &first[index];
  if (!(entry->flags & distributed)) return NULL;
  struct search search = {(uintptr_t)first, (uintptr_t)&entry->name + (uintptr_t)(intptr_t)entry->name, 0};
  dl_iterate_phdr(search_image, &search);
  if (search.readable < 3) return NULL;
  const char *name = (const char *)search.name;
  size_t limit = search.readable < longest_name ? search.readable : longest_name;
  return name[0] == '$' && name[1] == 's' && memchr(name, 0, limit) ? name : NULL;
}
