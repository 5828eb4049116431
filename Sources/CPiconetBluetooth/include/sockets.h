#pragma once

#include <stdint.h>

// Whether this kernel makes Bluetooth sockets: 0, or the errno of the attempt, such as EAFNOSUPPORT.
int piconet_bluetooth_probe(void);

// What a socket is for. L2CAP and LE are both SOCK_SEQPACKET of BTPROTO_L2CAP, RFCOMM is SOCK_STREAM of BTPROTO_RFCOMM.
enum {
  piconet_bluetooth_l2cap = 0,
  piconet_bluetooth_rfcomm = 1,
  piconet_bluetooth_le = 2,
};

// One end of a socket. `device` is the address as a number whose first digits are the most significant; `port` is the
// PSM or the channel; `is_random` matters only for LE.
struct piconet_bluetooth_end {
  uint64_t device;
  uint16_t port;
  uint8_t is_random;
};

// All return -1 with errno if they fail; those that answer a question otherwise return 0.

// A new socket, non-blocking, closed on exec.
int piconet_bluetooth_socket(int kind);
int piconet_bluetooth_bind(int socket, int kind, struct piconet_bluetooth_end end);
int piconet_bluetooth_connect(int socket, int kind, struct piconet_bluetooth_end end);
// getsockname or getpeername.
int piconet_bluetooth_name(int socket, int kind, int is_remote, struct piconet_bluetooth_end *end);
// 0 when the channel is up, otherwise ENOTCONN: by the CONNINFO option, which shows the state and not only the pending
// error.
int piconet_bluetooth_is_connected(int socket, int kind);

// BT_SECURITY: a level of `enum` BT_SECURITY_*.
int piconet_bluetooth_set_security(int socket, int level);

// What L2CAP over BR/EDR has agreed on, or is asked for: the largest SDU each way, and BT_MODE_BASIC or the like.
struct piconet_l2cap_options {
  uint16_t incoming_mtu, outgoing_mtu;
  uint8_t mode;
};
// The mode is one of L2CAP_MODE_*; an MTU of 0 stays as it is.
int piconet_l2cap_set_options(int socket, struct piconet_l2cap_options options);
int piconet_l2cap_get_options(int socket, struct piconet_l2cap_options *options);
enum { piconet_l2cap_basic = 0, piconet_l2cap_ertm = 3 };

// The same for an LE channel (BT_RCVMTU, BT_SNDMTU), whose mode is fixed.
int piconet_le_set_incoming_mtu(int socket, uint16_t mtu);
int piconet_le_mtus(int socket, uint16_t *incoming, uint16_t *outgoing);

// How much kernel memory a socket holds (SO_MEMINFO), including overhead: received and not read, sent and not yet given
// to the controller, and the limits of both.
struct piconet_socket_memory {
  uint32_t unread, unread_limit, unsent, unsent_limit;
};
int piconet_socket_memory(int socket, struct piconet_socket_memory *memory);

// Whether it has ended, as poll(2) says at once.
int piconet_socket_has_ended(int socket);
