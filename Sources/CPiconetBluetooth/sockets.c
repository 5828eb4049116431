#define _GNU_SOURCE
#include "sockets.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/l2cap.h>
#include <bluetooth/rfcomm.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int piconet_bluetooth_probe(void) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_SEQPACKET | SOCK_CLOEXEC, BTPROTO_L2CAP);
  if (descriptor < 0) return errno;
  close(descriptor);
  return 0;
}

int piconet_bluetooth_socket(int kind) {
  int flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
  if (kind == piconet_bluetooth_rfcomm) return socket(AF_BLUETOOTH, SOCK_STREAM | flags, BTPROTO_RFCOMM);
  return socket(AF_BLUETOOTH, SOCK_SEQPACKET | flags, BTPROTO_L2CAP);
}

union name {
  struct sockaddr any;
  struct sockaddr_l2 l2cap;
  struct sockaddr_rc rfcomm;
};

static void put_device(bdaddr_t *address, uint64_t device) {
  for (int i = 0; i < 6; i++) address->b[i] = (uint8_t)(device >> 8 * i);
}

static uint64_t device_of(const bdaddr_t *address) {
  uint64_t device = 0;
  for (int i = 5; i >= 0; i--) device = device << 8 | address->b[i];
  return device;
}

static socklen_t make_name(union name *name, int kind, struct piconet_bluetooth_end end) {
  memset(name, 0, sizeof *name);
  if (kind == piconet_bluetooth_rfcomm) {
    name->rfcomm.rc_family = AF_BLUETOOTH;
    name->rfcomm.rc_channel = end.port > UINT8_MAX ? UINT8_MAX : (uint8_t)end.port;
    put_device(&name->rfcomm.rc_bdaddr, end.device);
    return sizeof name->rfcomm;
  }
  name->l2cap.l2_family = AF_BLUETOOTH;
  name->l2cap.l2_psm = htobs(end.port);
  put_device(&name->l2cap.l2_bdaddr, end.device);
  if (kind == piconet_bluetooth_le) name->l2cap.l2_bdaddr_type = end.is_random ? BDADDR_LE_RANDOM : BDADDR_LE_PUBLIC;
  return sizeof name->l2cap;
}

int piconet_bluetooth_bind(int socket, int kind, struct piconet_bluetooth_end end) {
  union name name;
  socklen_t length = make_name(&name, kind, end);
  return bind(socket, &name.any, length);
}

int piconet_bluetooth_connect(int socket, int kind, struct piconet_bluetooth_end end) {
  union name name;
  socklen_t length = make_name(&name, kind, end);
  return connect(socket, &name.any, length);
}

int piconet_bluetooth_name(int socket, int kind, int is_remote, struct piconet_bluetooth_end *end) {
  union name name;
  memset(&name, 0, sizeof name);
  socklen_t length = sizeof name;
  int result = is_remote ? getpeername(socket, &name.any, &length) : getsockname(socket, &name.any, &length);
  if (result != 0) return -1;
  if (kind == piconet_bluetooth_rfcomm) {
    *end = (struct piconet_bluetooth_end){device_of(&name.rfcomm.rc_bdaddr), name.rfcomm.rc_channel, 0};
  } else {
    *end = (struct piconet_bluetooth_end){
        device_of(&name.l2cap.l2_bdaddr), btohs(name.l2cap.l2_psm), name.l2cap.l2_bdaddr_type == BDADDR_LE_RANDOM};
  }
  return 0;
}

int piconet_bluetooth_is_connected(int socket, int kind) {
  // Both structures begin with the handle and have the same size.
  struct l2cap_conninfo info;
  socklen_t length = sizeof info;
  if (kind == piconet_bluetooth_rfcomm) return getsockopt(socket, SOL_RFCOMM, RFCOMM_CONNINFO, &info, &length);
  return getsockopt(socket, SOL_L2CAP, L2CAP_CONNINFO, &info, &length);
}

int piconet_bluetooth_set_security(int socket, int level) {
  struct bt_security security = {.level = (uint8_t)level};
  return setsockopt(socket, SOL_BLUETOOTH, BT_SECURITY, &security, sizeof security);
}

static int get_options(int socket, struct l2cap_options *options) {
  memset(options, 0, sizeof *options);
  socklen_t length = sizeof *options;
  return getsockopt(socket, SOL_L2CAP, L2CAP_OPTIONS, options, &length);
}

int piconet_l2cap_set_options(int socket, struct piconet_l2cap_options wanted) {
  struct l2cap_options options;
  if (get_options(socket, &options) != 0) return -1;
  if (wanted.incoming_mtu != 0) options.imtu = wanted.incoming_mtu;
  if (wanted.outgoing_mtu != 0) options.omtu = wanted.outgoing_mtu;
  options.mode = wanted.mode;
  return setsockopt(socket, SOL_L2CAP, L2CAP_OPTIONS, &options, sizeof options);
}

int piconet_l2cap_get_options(int socket, struct piconet_l2cap_options *found) {
  struct l2cap_options options;
  if (get_options(socket, &options) != 0) return -1;
  *found = (struct piconet_l2cap_options){options.imtu, options.omtu, options.mode};
  return 0;
}

int piconet_le_set_incoming_mtu(int socket, uint16_t mtu) {
  return setsockopt(socket, SOL_BLUETOOTH, BT_RCVMTU, &mtu, sizeof mtu);
}

int piconet_le_mtus(int socket, uint16_t *incoming, uint16_t *outgoing) {
  socklen_t length = sizeof *incoming;
  if (getsockopt(socket, SOL_BLUETOOTH, BT_RCVMTU, incoming, &length) != 0) return -1;
  length = sizeof *outgoing;
  return getsockopt(socket, SOL_BLUETOOTH, BT_SNDMTU, outgoing, &length);
}

int piconet_socket_memory(int socket, struct piconet_socket_memory *memory) {
  uint32_t values[SK_MEMINFO_VARS] = {0};
  socklen_t length = sizeof values;
  if (getsockopt(socket, SOL_SOCKET, SO_MEMINFO, values, &length) != 0) return -1;
  *memory = (struct piconet_socket_memory){values[SK_MEMINFO_RMEM_ALLOC], values[SK_MEMINFO_RCVBUF],
                                           values[SK_MEMINFO_WMEM_ALLOC], values[SK_MEMINFO_SNDBUF]};
  return 0;
}

int piconet_socket_has_ended(int socket) {
  struct pollfd entry = {.fd = socket, .events = POLLRDHUP};
  return poll(&entry, 1, 0) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL)) != 0;
}
