#include <bluetooth/bluetooth.h>
#include <bluetooth/l2cap.h>
#include <bluetooth/rfcomm.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "baseline.h"

// 32 whole 3-DH5 packets less the L2CAP header. In basic mode nothing slows the sender down: what comes when the
// receiver's buffer is full is lost, and the channel with it.
enum { largest_sdu = 32668, send_buffer = 2 << 20, receive_buffer = 8 << 20, patience = 20000 };

void await_socket(int descriptor, short events) {
  struct pollfd watched = {.fd = descriptor, .events = events};
  if (poll(&watched, 1, patience) != 1) {
    errno = ETIMEDOUT;
    fail("poll");
  }
}

static socklen_t place(const struct measurement *wanted, const char *address, int port, struct sockaddr_storage *result) {
  memset(result, 0, sizeof *result);
  if (wanted->is_rfcomm) {
    struct sockaddr_rc *rfcomm = (struct sockaddr_rc *)result;
    rfcomm->rc_family = AF_BLUETOOTH;
    rfcomm->rc_channel = (uint8_t)port;
    str2ba(address, &rfcomm->rc_bdaddr);
    return sizeof *rfcomm;
  }
  struct sockaddr_l2 *l2cap = (struct sockaddr_l2 *)result;
  l2cap->l2_family = AF_BLUETOOTH;
  l2cap->l2_psm = htobs((uint16_t)port);
  str2ba(address, &l2cap->l2_bdaddr);
  return sizeof *l2cap;
}

static int bound(const struct measurement *wanted, int port) {
  int descriptor = wanted->is_rfcomm ? socket(AF_BLUETOOTH, SOCK_STREAM, BTPROTO_RFCOMM)
                                     : socket(AF_BLUETOOTH, SOCK_SEQPACKET, BTPROTO_L2CAP);
  if (descriptor < 0) fail("socket");
  int bytes = send_buffer;
  setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
  bytes = receive_buffer;
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  if (!wanted->is_rfcomm) {
    struct l2cap_options options = {0};
    socklen_t length = sizeof options;
    if (getsockopt(descriptor, SOL_L2CAP, L2CAP_OPTIONS, &options, &length) != 0) fail("L2CAP_OPTIONS");
    options.imtu = options.omtu = largest_sdu;
    if (setsockopt(descriptor, SOL_L2CAP, L2CAP_OPTIONS, &options, sizeof options) != 0) fail("L2CAP_OPTIONS");
  }
  struct sockaddr_storage local;
  socklen_t length = place(wanted, wanted->local, port, &local);
  if (bind(descriptor, (struct sockaddr *)&local, length) != 0) fail("bind");
  return descriptor;
}

int accept_one(const struct measurement *wanted) {
  int listening = bound(wanted, wanted->port);
  if (listen(listening, 1) != 0) fail("listen");
  printf("READY\n");
  fflush(stdout);
  int descriptor = accept(listening, NULL, NULL);
  if (descriptor < 0) fail("accept");
  close(listening);
  // An accepted socket has the system's default.
  int bytes = receive_buffer;
  setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return descriptor;
}

int connect_to(const struct measurement *wanted) {
  int descriptor = bound(wanted, 0);
  struct sockaddr_storage remote;
  socklen_t length = place(wanted, wanted->remote, wanted->port, &remote);
  if (connect(descriptor, (struct sockaddr *)&remote, length) != 0) fail("connect");
  fcntl(descriptor, F_SETFL, O_NONBLOCK);
  return descriptor;
}
