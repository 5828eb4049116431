#pragma once

#include "input.h"
#include "picture.h"

/// What is taken of a JPEG.
struct jpeg_rules {
  /// Of the result, at most; 0: it is not made smaller.
  unsigned side;
  /// Pixels of the picture as it is stored, at most.
  unsigned width, height, pixels;
  /// Scans, at most.
  int scans;
  /// Faults in the data that are passed over.
  long faults;
  /// What libjpeg may have for a picture that comes in several scans, in bytes.
  long memory;
};

const char *jpeg_read(struct input *input, const struct jpeg_rules *rules, struct piconet_picture *picture);
