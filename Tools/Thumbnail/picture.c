#include "picture.h"

#include "jpeg.h"
#include "pngpicture.h"

#include <string.h>

/// Of a file no more is read.
static const uint64_t file_limit = 64u << 20;

const char *piconet_picture_read(int input, unsigned side, struct piconet_picture *picture) {
  static struct input bytes;
  bytes = (struct input){.descriptor = input, .left = file_limit};
  while (bytes.end < 8 && input_fill(&bytes)) {
  }
  static const unsigned char png[] = {0x89, 'P', 'N', 'G', 0x0D, 0x0A, 0x1A, 0x0A};
  if (bytes.end >= sizeof png && memcmp(bytes.buffer, png, sizeof png) == 0) return png_read(&bytes, side, picture);
  const struct jpeg_rules rules = {
      .side = side,
      .width = 1 << 16,
      .height = 1 << 16,
      .pixels = PICONET_PIXEL_LIMIT,
      // Programs write up to 13.
      .scans = 64,
      .faults = 1000,
      .memory = 96l << 20,
  };
  return jpeg_read(&bytes, &rules, picture);
}

const char *piconet_picture_read_sheet(int input, unsigned width, unsigned height, struct piconet_picture *picture) {
  static struct input bytes;
  bytes = (struct input){.descriptor = input, .left = sizeof bytes.buffer};
  const struct jpeg_rules rules = {
      .width = width, .height = height, .pixels = width * height, .scans = 1, .memory = 1l << 20};
  return jpeg_read(&bytes, &rules, picture);
}
