#pragma once

#include <stddef.h>
#include <stdint.h>

/// Rows from the top, three bytes a pixel: red, green, blue. Nobody gives the memory back, since the process ends
/// soon.
struct piconet_picture {
  unsigned width, height;
  unsigned char *pixels;
};

/// A picture that is larger is left alone.
#define PICONET_PIXEL_LIMIT (1u << 26)

/// Decodes a JPEG or PNG of a person's own, turned as its EXIF data says, to at most `side` pixels each way. A picture
/// that is damaged further down is taken as far as it goes; transparent parts are white.
///
/// - Parameters:
///   - input: a descriptor, read up to a limit.
/// - Returns: NULL, or why there is no picture.
const char *piconet_picture_read(int input, unsigned side, struct piconet_picture *picture);

/// Decodes a JPEG that a peer has sent: of one scan, without a fault, and not larger than that.
/// - Returns: NULL, or why there is no picture.
const char *piconet_picture_read_sheet(int input, unsigned width, unsigned height, struct piconet_picture *picture);

/// Encodes a picture as a JPEG of one scan with at most so many bytes, as well as these allow.
/// - Returns: NULL, or why there is none.
const char *piconet_picture_write(
    const struct piconet_picture *picture, size_t limit, unsigned char **bytes, size_t *count);
