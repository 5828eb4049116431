// Bare Bluetooth sockets to measure Piconet against: no TLS, no frames, no digest.
//
//   bluetooth-baseline receive|send|echo|ping l2cap|rfcomm LOCAL REMOTE|- PORT COUNT SIZE
//   bluetooth-baseline push LOCAL REMOTE FILE     over obexd on the session bus
//
// LOCAL and REMOTE are addresses of adapters, PORT a PSM or channel. send writes COUNT bytes in pieces of SIZE; ping
// sends COUNT messages of SIZE and waits for each to come back. A receiver prints READY, and each end one line of JSON.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "baseline.h"

double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void fail(const char *what) {
  perror(what);
  exit(1);
}

int main(int count, char **words) {
  if (count == 5 && strcmp(words[1], "push") == 0) return push_by_obexd(words[2], words[3], words[4]);
  if (count != 8) {
    fprintf(stderr, "usage: see the top of main.c\n");
    return 2;
  }
  struct measurement wanted = {
      .is_rfcomm = strcmp(words[2], "rfcomm") == 0,
      .local = words[3],
      .remote = words[4],
      .port = (int)strtol(words[5], NULL, 0),
      .count = strtol(words[6], NULL, 0),
      .size = strtol(words[7], NULL, 0),
  };
  if (strcmp(words[1], "receive") == 0) return receive_bytes(&wanted);
  if (strcmp(words[1], "send") == 0) return send_bytes(&wanted);
  if (strcmp(words[1], "echo") == 0) return echo_messages(&wanted);
  if (strcmp(words[1], "ping") == 0) return ping_messages(&wanted);
  fprintf(stderr, "unknown: %s\n", words[1]);
  return 2;
}
