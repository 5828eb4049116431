#include <string.h>

#include "baseline.h"

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

static double microseconds(const uint64_t *sorted, uint64_t count, double part) {
  uint64_t index = (uint64_t)(part * (double)count);
  return (double)sorted[index < count ? index : count - 1] / 1e3;
}

/* The server sends back what comes; the client times each round trip. A tenth more goes first, untimed. */
void pingpong(const struct options *options) {
  uint64_t warm_up = options->count / 10 + 1;
  unsigned char *message = malloc(options->size);
  uint64_t *trips = malloc(options->count * sizeof *trips);
  if (!message || !trips) FAIL("memory");
  memset(message, 7, options->size);
  SSL *channel = open_channel(options);
  struct span start = begin();
  uint64_t before = 0;
  for (uint64_t i = 0; i < warm_up + options->count; i++) {
    if (i == warm_up) {
      start = begin();
      before = nanoseconds();
    }
    if (!options->server) send_bytes(channel, message, options->size);
    receive_bytes(channel, message, options->size);
    if (options->server) send_bytes(channel, message, options->size);
    if (!options->server && !options->untimed && i >= warm_up) {
      uint64_t now = nanoseconds();
      trips[i - warm_up] = now - before;
      before = now;
    }
  }
  struct span used = since(start);
  report(options, used, peak_resident_kib());
  printf(",\"size\":%zu,\"count\":%llu", options->size, (unsigned long long)options->count);
  if (!options->server && !options->untimed) {
    qsort(trips, options->count, sizeof *trips, compare);
    printf(",\"p50_us\":%.3f,\"p99_us\":%.3f", microseconds(trips, options->count, 0.5),
           microseconds(trips, options->count, 0.99));
  }
  printf("}\n");
}
