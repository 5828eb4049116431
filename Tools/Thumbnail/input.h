#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes of a descriptor, up to a limit.
struct input {
  int descriptor;
  /// How many more may be read.
  uint64_t left;
  size_t start, end;
  unsigned char buffer[1 << 16];
};

/// Makes more bytes available; false: there are none.
bool input_fill(struct input *input);

/// Exactly so many bytes; false: there are fewer.
bool input_take(struct input *input, void *bytes, size_t count);
