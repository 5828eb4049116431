#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "baseline.h"

enum { read_size = 64 << 10 };

// One read or write, of whatever length the socket takes.
static long some(int descriptor, char *bytes, long length, int writes) {
  for (;;) {
    ssize_t done = writes ? write(descriptor, bytes, (size_t)length) : read(descriptor, bytes, (size_t)length);
    if (done > 0) return done;
    if (done == 0) {
      errno = ECONNRESET;
      fail("the other end");
    }
    if (errno != EAGAIN && errno != EINTR) fail(writes ? "write" : "read");
    await_socket(descriptor, writes ? POLLOUT : POLLIN);
  }
}

static void whole(int descriptor, char *bytes, long length, int writes) {
  for (long done = 0; done < length;) done += some(descriptor, bytes + done, length - done, writes);
}

int receive_bytes(const struct measurement *wanted) {
  int descriptor = accept_one(wanted);
  double start = seconds();
  char *bytes = malloc(read_size), thanks = 1;
  if (bytes == NULL) fail("malloc");
  for (long received = 0; received < wanted->count;) received += some(descriptor, bytes, read_size, 0);
  printf("{\"seconds\":%.6f,\"bytes\":%ld}\n", seconds() - start, wanted->count);
  // The sender waits for it: what is unsent when an L2CAP socket is closed is thrown away.
  whole(descriptor, &thanks, 1, 1);
  await_socket(descriptor, POLLIN);
  free(bytes);
  close(descriptor);
  return 0;
}

int send_bytes(const struct measurement *wanted) {
  int descriptor = connect_to(wanted);
  double start = seconds();
  char *bytes = malloc((size_t)wanted->size), thanks = 0;
  if (bytes == NULL) fail("malloc");
  memset(bytes, 'x', (size_t)wanted->size);
  for (long sent = 0; sent < wanted->count;) {
    long left = wanted->count - sent;
    sent += some(descriptor, bytes, left < wanted->size ? left : wanted->size, 1);
  }
  whole(descriptor, &thanks, 1, 0);
  printf("{\"seconds\":%.6f,\"bytes\":%ld}\n", seconds() - start, wanted->count);
  free(bytes);
  close(descriptor);
  return 0;
}

int echo_messages(const struct measurement *wanted) {
  int descriptor = accept_one(wanted);
  char *bytes = malloc((size_t)wanted->size);
  if (bytes == NULL) fail("malloc");
  for (long trip = 0; trip < wanted->count + wanted->count / 10 + 1; trip++) {
    whole(descriptor, bytes, wanted->size, 0);
    whole(descriptor, bytes, wanted->size, 1);
  }
  // The other end closes when it has the last one.
  await_socket(descriptor, POLLIN);
  close(descriptor);
  free(bytes);
  return 0;
}

static int ascending(const void *left, const void *right) {
  double difference = *(const double *)left - *(const double *)right;
  return (difference > 0) - (difference < 0);
}

int ping_messages(const struct measurement *wanted) {
  int descriptor = connect_to(wanted);
  char *bytes = calloc(1, (size_t)wanted->size);
  double *trips = calloc((size_t)wanted->count, sizeof *trips);
  if (bytes == NULL || trips == NULL) fail("calloc");
  // A tenth more goes first, untimed.
  for (long trip = -(wanted->count / 10 + 1); trip < wanted->count; trip++) {
    double start = seconds();
    whole(descriptor, bytes, wanted->size, 1);
    whole(descriptor, bytes, wanted->size, 0);
    if (trip >= 0) trips[trip] = seconds() - start;
  }
  qsort(trips, (size_t)wanted->count, sizeof *trips, ascending);
  printf("{\"size\":%ld,\"count\":%ld,\"p50_us\":%.1f,\"p99_us\":%.1f}\n", wanted->size, wanted->count,
         trips[wanted->count / 2] * 1e6, trips[wanted->count * 99 / 100] * 1e6);
  close(descriptor);
  free(trips);
  free(bytes);
  return 0;
}
