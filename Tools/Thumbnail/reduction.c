#include "reduction.h"

#include <stdlib.h>
#include <string.h>

static unsigned reduced(unsigned length, unsigned longest, unsigned side) {
  if (longest <= side) return length;
  uint64_t result = (uint64_t)length * side / longest;
  return result > 0 ? (unsigned)result : 1;
}

bool reduction_begin(
    struct reduction *reduction, unsigned width, unsigned height, unsigned side, struct piconet_picture *picture) {
  unsigned longest = width > height ? width : height;
  *picture = (struct piconet_picture){.width = reduced(width, longest, side), .height = reduced(height, longest, side)};
  // White, where a picture ends early.
  size_t count = (size_t)picture->width * picture->height * 3;
  picture->pixels = malloc(count);
  *reduction = (struct reduction){.width = width, .height = height, .picture = picture};
  reduction->sums = calloc((size_t)picture->width * 3, sizeof *reduction->sums);
  if (!picture->pixels || !reduction->sums) return false;
  memset(picture->pixels, 0xFF, count);
  return true;
}

static unsigned place(unsigned index, unsigned from, unsigned to) { return (unsigned)((uint64_t)index * to / from); }

/// The first index of those that go to this place.
static unsigned first(unsigned place, unsigned from, unsigned to) {
  return (unsigned)(((uint64_t)place * from + to - 1) / to);
}

void reduction_add(struct reduction *reduction, const unsigned char *row) {
  struct piconet_picture *picture = reduction->picture;
  if (reduction->row >= reduction->height) return;
  for (unsigned x = 0; x < reduction->width; x++) {
    uint64_t *sums = reduction->sums + 3 * (size_t)place(x, reduction->width, picture->width);
    for (int part = 0; part < 3; part++) sums[part] += row[3 * (size_t)x + part];
  }
  unsigned y = place(reduction->row, reduction->height, picture->height);
  reduction->row++;
  reduction->rows++;
  if (reduction->row < reduction->height && place(reduction->row, reduction->height, picture->height) == y) return;
  unsigned char *target = picture->pixels + 3 * (size_t)picture->width * y;
  for (unsigned x = 0; x < picture->width; x++) {
    unsigned columns =
        first(x + 1, reduction->width, picture->width) - first(x, reduction->width, picture->width);
    uint64_t count = (uint64_t)columns * reduction->rows;
    for (int part = 0; part < 3; part++)
      target[3 * (size_t)x + part] = (unsigned char)((reduction->sums[3 * (size_t)x + part] + count / 2) / count);
  }
  reduction->rows = 0;
  memset(reduction->sums, 0, (size_t)picture->width * 3 * sizeof *reduction->sums);
}

bool picture_turn(struct piconet_picture *picture, unsigned orientation) {
  if (orientation < 2 || orientation > 8) return true;
  bool is_sideways = orientation >= 5;
  struct piconet_picture turned = {
      .width = is_sideways ? picture->height : picture->width,
      .height = is_sideways ? picture->width : picture->height,
      .pixels = malloc((size_t)picture->width * picture->height * 3),
  };
  if (!turned.pixels) return false;
  // EXIF 2.32, 4.6.4: which side of the stored picture is the upper one, and which the left one.
  bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  bool from_below = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (unsigned y = 0; y < turned.height; y++) {
    for (unsigned x = 0; x < turned.width; x++) {
      unsigned column = is_sideways ? y : x, line = is_sideways ? x : y;
      if (from_right) column = picture->width - 1 - column;
      if (from_below) line = picture->height - 1 - line;
      memcpy(
          turned.pixels + 3 * ((size_t)turned.width * y + x),
          picture->pixels + 3 * ((size_t)picture->width * line + column), 3);
    }
  }
  *picture = turned;
  return true;
}
