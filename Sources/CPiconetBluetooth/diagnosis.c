#define _GNU_SOURCE
#include "diagnosis.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/l2cap.h>
#include <bluetooth/rfcomm.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

static int probe(int type, int protocol) {
  int descriptor = socket(AF_BLUETOOTH, type | SOCK_CLOEXEC, protocol);
  if (descriptor < 0) return errno;
  close(descriptor);
  return 0;
}

int piconet_probe_l2cap(void) { return probe(SOCK_SEQPACKET, BTPROTO_L2CAP); }
int piconet_probe_rfcomm(void) { return probe(SOCK_STREAM, BTPROTO_RFCOMM); }

int piconet_sdp_is_served(void) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC, BTPROTO_L2CAP);
  if (descriptor < 0) return -1;
  struct sockaddr_l2 address = {.l2_family = AF_BLUETOOTH, .l2_psm = htobs(1)};
  // Binding without listening takes nothing away from anybody: no peer can reach the socket.
  int result = bind(descriptor, (struct sockaddr *)&address, sizeof address);
  int error = errno;
  close(descriptor);
  return result == 0 ? 0 : error == EADDRINUSE ? 1 : -1;
}
