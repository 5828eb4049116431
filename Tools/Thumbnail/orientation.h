#pragma once

#include <stddef.h>

/// The orientation that an EXIF block tells, 1 to 8; 0: none.
/// - Parameter bytes: what follows the length of an APP1 marker, or the start of it.
unsigned exif_orientation(const unsigned char *bytes, size_t count);
