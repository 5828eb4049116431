#include "pngpicture.h"

#include "reduction.h"

#include <setjmp.h>
#include <stdlib.h>

#include <png.h>

/// An interlaced picture has to be held whole.
static const size_t interlaced_limit = 48u << 20;
/// What a chunk may take that says something about the picture; a larger one is left out.
static const size_t chunk_limit = 1u << 20;

_Noreturn static void give_up(png_structp png, png_const_charp why) {
  (void)why;
  png_longjmp(png, 1);
}

static void pass_over(png_structp png, png_const_charp why) {
  (void)png;
  (void)why;
}

static void take(png_structp png, png_bytep bytes, size_t count) {
  if (!input_take(png_get_io_ptr(png), bytes, count)) png_error(png, "too short");
}

/// On white, in place: three bytes a pixel of four.
static void on_white(unsigned char *row, unsigned width) {
  for (unsigned x = 0; x < width; x++) {
    unsigned alpha = row[4 * (size_t)x + 3];
    for (int part = 0; part < 3; part++)
      row[3 * (size_t)x + part] = (unsigned char)((row[4 * (size_t)x + part] * alpha + 255 * (255 - alpha)) / 255);
  }
}

const char *png_read(struct input *input, unsigned side, struct piconet_picture *picture) {
  png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, give_up, pass_over);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (!info) return "not enough memory";
  struct reduction reduction;
  // Set once there is a picture: it is shown as far as it goes.
  volatile bool has_begun = false;
  if (setjmp(png_jmpbuf(png))) return has_begun && reduction.row > 0 ? NULL : "not a PNG that can be read";
  png_set_read_fn(png, input, take);
  png_set_user_limits(png, 1 << 16, 1 << 16);
  png_set_chunk_malloc_max(png, chunk_limit);
  png_set_chunk_cache_max(png, 8);
  // Times, texts, profiles: none of them is needed.
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
  png_read_info(png, info);
  unsigned width = png_get_image_width(png, info), height = png_get_image_height(png, info);
  if ((uint64_t)width * height > PICONET_PIXEL_LIMIT) return "too large";
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  size_t bytes = png_get_rowbytes(png, info);
  if (bytes != (size_t)width * 4) return "no colours that are known";
  if (passes > 1 && bytes * height > interlaced_limit) return "too large";
  unsigned rows = passes > 1 ? height : 1;
  unsigned char *pixels = calloc(rows, bytes);
  if (!pixels || !reduction_begin(&reduction, width, height, side, picture)) return "not enough memory";
  for (int pass = 1; pass < passes; pass++)
    for (unsigned y = 0; y < height; y++) png_read_row(png, pixels + bytes * y, NULL);
  has_begun = true;
  for (unsigned y = 0; y < height; y++) {
    unsigned char *row = pixels + (passes > 1 ? bytes * y : 0);
    png_read_row(png, row, NULL);
    on_white(row, width);
    reduction_add(&reduction, row);
  }
  return NULL;
}
