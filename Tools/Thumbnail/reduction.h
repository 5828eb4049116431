#pragma once

#include "picture.h"

#include <stdbool.h>
#include <stdint.h>

/// Makes a picture smaller while its rows come, each pixel the mean of those that it stands for.
struct reduction {
  unsigned width, height, row;
  /// Rows that have been added up, and the sums.
  unsigned rows;
  uint64_t *sums;
  struct piconet_picture *picture;
};

/// - Parameter side: of the result, at most; a smaller picture stays as it is.
/// - Returns: false if there is no memory.
bool reduction_begin(
    struct reduction *reduction, unsigned width, unsigned height, unsigned side, struct piconet_picture *picture);

/// The next row, of red, green and blue.
void reduction_add(struct reduction *reduction, const unsigned char *row);

/// Turns a picture as EXIF's orientation says, 1 to 8; another number says nothing. False if there is no memory.
bool picture_turn(struct piconet_picture *picture, unsigned orientation);
