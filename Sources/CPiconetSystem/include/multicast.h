#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// One UDP socket per family for Multicast DNS, and rtnetlink: the control messages and netlink calls that the Glibc
/// module does not import. All functions return -1 with errno set, as the system calls do.

/// A datagram's other end, and the interface on which it came in or goes out. Addresses are 4 or 16 bytes in network
/// order.
struct piconet_datagram {
  uint8_t address[16];
  uint8_t destination[16];
  uint16_t port;
  uint32_t index;
};

/// A non-blocking socket, bound to the wildcard address, which shares the port with all that do so too.
int piconet_multicast_open(int is6, uint16_t port);

/// Joins (or leaves) a group on one interface.
int piconet_multicast_member(int fd, int is6, const uint8_t *group, uint32_t index, int join);

/// Sends on the interface that `to` names; its `destination` is ignored.
ssize_t piconet_multicast_send(int fd, int is6, const void *bytes, size_t count, const struct piconet_datagram *to);

/// Returns the count of bytes; a datagram longer than the buffer gives -1 with EMSGSIZE. `from->index` is 0 if the
/// kernel did not say.
ssize_t piconet_multicast_receive(int fd, int is6, void *bytes, size_t capacity, struct piconet_datagram *from);

/// A route socket: non-blocking and subscribed to changes of links and addresses, or blocking, for two seconds at
/// most, and subscribed to nothing.
int piconet_route_open(int blocking);

/// Asks for all links, or all addresses.
int piconet_route_dump(int fd, int addresses);

/// As recv(2); only what the kernel itself sent counts, anything else gives 0.
ssize_t piconet_route_receive(int fd, void *bytes, size_t capacity);
