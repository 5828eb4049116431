#include <string.h>

#include "baseline.h"

enum { batch = 64 << 10, room = 256 << 10 };

/* Messages of `size` bytes, each behind a length of four, as many as fit into one write of 64 KiB. */
static void send_all(const struct options *options, SSL *channel) {
  uint32_t length = (uint32_t)options->size;
  size_t frame = sizeof length + options->size, used = 0, most = frame > batch ? frame : batch;
  unsigned char *message = malloc(options->size), *buffer = malloc(most);
  if (!message || !buffer) FAIL("memory");
  memset(message, 1, options->size);
  struct span start = begin();
  for (uint64_t i = 0; i < options->count; i++) {
    if (used + frame > most) {
      send_bytes(channel, buffer, used);
      used = 0;
    }
    memcpy(buffer + used, &length, sizeof length);
    memcpy(buffer + used + sizeof length, message, options->size);
    used += frame;
  }
  send_bytes(channel, buffer, used);
  /* The time ends when the remote side has counted all of them. */
  receive_bytes(channel, buffer, 1);
  struct span taken = since(start);
  report(options, taken, peak_resident_kib());
}

static void receive_all(const struct options *options, SSL *channel) {
  size_t most = room + sizeof(uint32_t) + options->size, held = 0;
  unsigned char *buffer = malloc(most);
  uint64_t counted = 0, sum = 0;
  if (!buffer) FAIL("memory");
  struct span start = begin();
  while (counted < options->count) {
    held += receive_some(channel, buffer + held, most - held);
    size_t next = 0;
    uint32_t length;
    while (held - next >= sizeof length) {
      memcpy(&length, buffer + next, sizeof length);
      if (length != options->size) FAIL("a length");
      if (held - next < sizeof length + length) break;
      /* Each message is looked at, as its receiver would do. */
      sum += buffer[next + sizeof length];
      next += sizeof length + length;
      counted++;
    }
    memmove(buffer, buffer + next, held - next);
    held -= next;
  }
  if (sum != counted) FAIL("a content");
  send_bytes(channel, "", 1);
  struct span taken = since(start);
  report(options, taken, peak_resident_kib());
}

void rate(const struct options *options) {
  SSL *channel = open_channel(options);
  if (options->server) receive_all(options, channel);
  else send_all(options, channel);
  printf(",\"size\":%zu,\"count\":%llu}\n", options->size, (unsigned long long)options->count);
}
