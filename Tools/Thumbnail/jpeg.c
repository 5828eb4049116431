#include "jpeg.h"

#include "orientation.h"
#include "reduction.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

struct failures {
  struct jpeg_error_mgr base;
  long faults, limit;
  const char *why;
  jmp_buf way_out;
};

struct source {
  struct jpeg_source_mgr base;
  struct input *input;
};

struct scans {
  struct jpeg_progress_mgr base;
  int limit;
};

_Noreturn static void give_up(j_common_ptr info, const char *why) {
  struct failures *failures = (struct failures *)info->err;
  failures->why = why;
  longjmp(failures->way_out, 1);
}

_Noreturn static void error_exit(j_common_ptr info) { give_up(info, "not a JPEG that can be read"); }

static void emit_message(j_common_ptr info, int level) {
  struct failures *failures = (struct failures *)info->err;
  // Others are for a log.
  if (level < 0 && ++failures->faults > failures->limit) give_up(info, "damaged");
}

static void output_message(j_common_ptr info) { (void)info; }

static void progressed(j_common_ptr info) {
  const struct scans *scans = (const struct scans *)info->progress;
  if (((j_decompress_ptr)info)->input_scan_number > scans->limit) give_up(info, "too many scans");
}

static void nothing(j_decompress_ptr info) { (void)info; }

/// libjpeg has used all that there was.
static boolean fill(j_decompress_ptr info) {
  struct source *source = (struct source *)info->src;
  struct input *input = source->input;
  input->start = input->end;
  if (!input_fill(input)) {
    emit_message((j_common_ptr)info, -1);
    // The end, so that what has come is shown.
    input->buffer[0] = 0xFF;
    input->buffer[1] = JPEG_EOI;
    input->start = 0;
    input->end = 2;
  }
  source->base.next_input_byte = input->buffer + input->start;
  source->base.bytes_in_buffer = input->end - input->start;
  return TRUE;
}

static void skip(j_decompress_ptr info, long count) {
  while (count > (long)info->src->bytes_in_buffer) {
    count -= (long)info->src->bytes_in_buffer;
    fill(info);
  }
  if (count <= 0) return;
  info->src->next_input_byte += count;
  info->src->bytes_in_buffer -= (size_t)count;
}

/// Four inks, as Adobe's programs write them: 255 is none.
static void from_inks(const unsigned char *inks, unsigned char *row, unsigned width) {
  for (unsigned x = 0; x < width; x++, inks += 4, row += 3)
    for (int part = 0; part < 3; part++) row[part] = (unsigned char)(inks[part] * inks[3] / 255);
}

/// The first that says something.
static unsigned orientation(j_decompress_ptr info) {
  for (jpeg_saved_marker_ptr marker = info->marker_list; marker; marker = marker->next) {
    unsigned found = exif_orientation(marker->data, marker->data_length);
    if (found) return found;
  }
  return 1;
}

static void check(j_decompress_ptr info, const struct jpeg_rules *rules) {
  j_common_ptr common = (j_common_ptr)info;
  if (info->image_width > rules->width || info->image_height > rules->height) give_up(common, "too large");
  if ((uint64_t)info->image_width * info->image_height > rules->pixels) give_up(common, "too large");
  if (rules->scans == 1 && (info->arith_code || jpeg_has_multiple_scans(info))) give_up(common, "too many scans");
  if (info->num_components != 1 && info->num_components != 3 && info->num_components != 4)
    give_up(common, "no colours that are known");
}

const char *jpeg_read(struct input *input, const struct jpeg_rules *rules, struct piconet_picture *picture) {
  struct jpeg_decompress_struct info;
  struct failures failures = {.limit = rules->faults};
  struct scans scans = {.limit = rules->scans};
  struct source source = {.input = input};
  info.err = jpeg_std_error(&failures.base);
  failures.base.error_exit = error_exit;
  failures.base.emit_message = emit_message;
  failures.base.output_message = output_message;
  // What libjpeg holds ends with the process.
  if (setjmp(failures.way_out)) return failures.why;
  jpeg_create_decompress(&info);
  info.mem->max_memory_to_use = rules->memory;
  scans.base.progress_monitor = progressed;
  info.progress = &scans.base;
  source.base = (struct jpeg_source_mgr){
      .next_input_byte = input->buffer + input->start,
      .bytes_in_buffer = input->end - input->start,
      .init_source = nothing,
      .fill_input_buffer = fill,
      .skip_input_data = skip,
      .resync_to_restart = jpeg_resync_to_restart,
      .term_source = nothing,
  };
  info.src = &source.base;
  // Its first directory is at its start.
  if (rules->side) jpeg_save_markers(&info, JPEG_APP0 + 1, 4096);
  jpeg_read_header(&info, TRUE);
  check(&info, rules);
  bool has_inks = info.num_components == 4;
  info.out_color_space = has_inks ? JCS_CMYK : JCS_RGB;
  unsigned longest = info.image_width > info.image_height ? info.image_width : info.image_height;
  unsigned side = rules->side ? rules->side : longest;
  // libjpeg leaves out what a smaller picture doesn't need.
  info.scale_denom = 8;
  for (info.scale_num = 1; info.scale_num < 8 && longest * (uint64_t)info.scale_num / 8 < side;) info.scale_num *= 2;
  jpeg_start_decompress(&info);
  struct reduction reduction;
  size_t bytes = (size_t)info.output_width * (size_t)info.output_components;
  unsigned char *line = malloc(bytes);
  unsigned char *row = has_inks ? malloc((size_t)info.output_width * 3) : line;
  if (!line || !row || !reduction_begin(&reduction, info.output_width, info.output_height, side, picture))
    return "not enough memory";
  while (info.output_scanline < info.output_height) {
    JSAMPROW lines[] = {line};
    if (jpeg_read_scanlines(&info, lines, 1) != 1) return "damaged";
    if (has_inks) from_inks(line, row, info.output_width);
    reduction_add(&reduction, row);
  }
  // A peer's picture ends where its last row does.
  if (rules->faults == 0) jpeg_finish_decompress(&info);
  return picture_turn(picture, rules->side ? orientation(&info) : 1) ? NULL : "not enough memory";
}

const char *piconet_picture_write(
    const struct piconet_picture *picture, size_t limit, unsigned char **bytes, size_t *count) {
  static const int qualities[] = {85, 75, 65, 55, 45, 35, 25, 15, 8};
  for (size_t i = 0; i < sizeof qualities / sizeof *qualities; i++) {
    struct jpeg_compress_struct info;
    struct failures failures = {.limit = 0};
    unsigned long size = 0;
    *bytes = NULL;
    info.err = jpeg_std_error(&failures.base);
    failures.base.error_exit = error_exit;
    failures.base.emit_message = emit_message;
    failures.base.output_message = output_message;
    if (setjmp(failures.way_out)) return failures.why;
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, bytes, &size);
    info.image_width = picture->width;
    info.image_height = picture->height;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, qualities[i], TRUE);
    info.optimize_coding = TRUE;
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
      JSAMPROW row = picture->pixels + 3 * (size_t)info.next_scanline * picture->width;
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    if (size <= limit) {
      *count = size;
      return NULL;
    }
    free(*bytes);
  }
  return "too large, however coarse";
}
