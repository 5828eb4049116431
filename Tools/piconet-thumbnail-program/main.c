// What imagesend and imagerecv run to decode a picture: a process that has no rights left before it reads the first
// byte. Standard input is the picture, standard output what is made of it; where there is nothing, the status says so.
//
//   piconet-thumbnail picture SIDE          a JPEG or PNG file to pixels, at most SIDE each way
//   piconet-thumbnail sheet WIDTH HEIGHT    a peer's JPEG to pixels, if it is not larger than that
//   piconet-thumbnail write BYTES           pixels to a JPEG of at most so many bytes
//
// Pixels are the width and the height, two bytes each with the highest one first, and rows of red, green and blue. A
// JPEG that is written comes behind its length, four bytes.
#include "PiconetThumbnail.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { done = 0, usage = 2, not_confined = 3, no_picture = 4 };

/// The largest width, height or number of bytes that may be asked for.
static const unsigned long number_limit = 65536;

static bool number(const char *word, unsigned *value) {
  char *end;
  if (!word || *word < '0' || *word > '9') return false;
  unsigned long parsed = strtoul(word, &end, 10);
  if (*end || parsed == 0 || parsed > number_limit) return false;
  *value = (unsigned)parsed;
  return true;
}

static bool read_all(unsigned char *bytes, size_t count) {
  while (count > 0) {
    ssize_t part = read(STDIN_FILENO, bytes, count);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    bytes += part;
    count -= (size_t)part;
  }
  return true;
}

static bool write_all(const unsigned char *bytes, size_t count) {
  while (count > 0) {
    ssize_t part = write(STDOUT_FILENO, bytes, count);
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return false;
    bytes += part;
    count -= (size_t)part;
  }
  return true;
}

static bool write_picture(const struct piconet_picture *picture) {
  if (picture->width > 0xFFFF || picture->height > 0xFFFF) return false;
  const unsigned char head[] = {
      (unsigned char)(picture->width >> 8), (unsigned char)picture->width, (unsigned char)(picture->height >> 8),
      (unsigned char)picture->height};
  return write_all(head, sizeof head) && write_all(picture->pixels, (size_t)picture->width * picture->height * 3);
}

static bool write_bytes(const unsigned char *bytes, size_t count) {
  const unsigned char head[] = {
      (unsigned char)(count >> 24), (unsigned char)(count >> 16), (unsigned char)(count >> 8), (unsigned char)count};
  return write_all(head, sizeof head) && write_all(bytes, count);
}

static bool read_picture(struct piconet_picture *picture) {
  unsigned char head[4];
  if (!read_all(head, sizeof head)) return false;
  picture->width = (unsigned)head[0] << 8 | head[1];
  picture->height = (unsigned)head[2] << 8 | head[3];
  size_t count = (size_t)picture->width * picture->height * 3;
  if (count == 0 || count > 1u << 20) return false;
  picture->pixels = malloc(count);
  return picture->pixels && read_all(picture->pixels, count);
}

int main(int count, char **words) {
  enum { reads_picture, reads_sheet, writes } act;
  unsigned first = 0, second = 0;
  const char *name = count > 1 ? words[1] : "";
  if (count == 3 && strcmp(name, "picture") == 0 && number(words[2], &first)) {
    act = reads_picture;
  } else if (count == 4 && strcmp(name, "sheet") == 0 && number(words[2], &first) && number(words[3], &second)) {
    act = reads_sheet;
  } else if (count == 3 && strcmp(name, "write") == 0 && number(words[2], &first)) {
    act = writes;
  } else {
    fputs("piconet-thumbnail: imagesend and imagerecv run this to decode pictures; it is of no other use\n", stderr);
    return usage;
  }
  const struct piconet_thumbnail_limits limits = {
      .memory = act == reads_picture ? 192u << 20 : 64u << 20, .seconds = act == reads_picture ? 2 : 1};
  // Nothing of the input has been read so far.
  if (piconet_thumbnail_confine(limits, NULL, 0)) _exit(not_confined);
  struct piconet_picture picture;
  bool is_done;
  switch (act) {
  case reads_picture: is_done = !piconet_picture_read(STDIN_FILENO, first, &picture) && write_picture(&picture); break;
  case reads_sheet:
    is_done = !piconet_picture_read_sheet(STDIN_FILENO, first, second, &picture) && write_picture(&picture);
    break;
  case writes: {
    unsigned char *bytes;
    size_t size;
    is_done = read_picture(&picture) && !piconet_picture_write(&picture, first, &bytes, &size) &&
              write_bytes(bytes, size);
    break;
  }
  }
  _exit(is_done ? done : no_picture);
}
