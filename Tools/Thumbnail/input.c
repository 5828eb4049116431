#include "input.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool input_fill(struct input *input) {
  if (input->start == input->end) input->start = input->end = 0;
  size_t room = sizeof input->buffer - input->end;
  if (room > input->left) room = (size_t)input->left;
  if (room == 0) return false;
  ssize_t count;
  do count = read(input->descriptor, input->buffer + input->end, room);
  while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  input->left -= (uint64_t)count;
  input->end += (size_t)count;
  return true;
}

bool input_take(struct input *input, void *bytes, size_t count) {
  unsigned char *next = bytes;
  while (count > 0) {
    if (input->start == input->end && !input_fill(input)) return false;
    size_t part = input->end - input->start;
    if (part > count) part = count;
    memcpy(next, input->buffer + input->start, part);
    input->start += part;
    next += part;
    count -= part;
  }
  return true;
}
