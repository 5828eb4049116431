#include "orientation.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/// TIFF 6.0, section 2, as far as EXIF uses it.
struct tiff {
  const unsigned char *bytes;
  size_t count;
  bool is_little;
};

/// A number of two or four bytes; false: it is not there.
static bool number(const struct tiff *tiff, size_t at, size_t size, uint32_t *value) {
  if (at > tiff->count || tiff->count - at < size) return false;
  *value = 0;
  for (size_t i = 0; i < size; i++) *value = *value << 8 | tiff->bytes[at + (tiff->is_little ? size - 1 - i : i)];
  return true;
}

unsigned exif_orientation(const unsigned char *bytes, size_t count) {
  static const char mark[] = "Exif\0";
  if (count < sizeof mark + 8 || memcmp(bytes, mark, sizeof mark) != 0) return 0;
  struct tiff tiff = {.bytes = bytes + sizeof mark, .count = count - sizeof mark};
  if (memcmp(tiff.bytes, "II", 2) != 0 && memcmp(tiff.bytes, "MM", 2) != 0) return 0;
  tiff.is_little = tiff.bytes[0] == 'I';
  uint32_t directory, entries;
  if (!number(&tiff, 4, 4, &directory) || !number(&tiff, directory, 2, &entries)) return 0;
  for (uint32_t i = 0; i < entries; i++) {
    size_t entry = (size_t)directory + 2 + 12 * (size_t)i;
    uint32_t tag, type, value;
    if (!number(&tiff, entry, 2, &tag)) return 0;
    // Orientation, of the type SHORT.
    if (tag != 0x0112) continue;
    if (!number(&tiff, entry + 2, 2, &type) || type != 3 || !number(&tiff, entry + 8, 2, &value)) return 0;
    return value >= 1 && value <= 8 ? value : 0;
  }
  return 0;
}
