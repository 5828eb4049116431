#define _GNU_SOURCE
#include "sockets.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/l2cap.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

int piconet_bluetooth_probe(void) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC, BTPROTO_L2CAP);
  if (descriptor < 0) return errno;
  close(descriptor);
  return 0;
}
