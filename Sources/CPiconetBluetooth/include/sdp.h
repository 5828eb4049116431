#pragma once

#include <stddef.h>
#include <stdint.h>

// libbluetooth's SDP client connection to one device. Addresses are numbers whose first digits are the most
// significant.

// Begins to connect from the adapter `source` (0: any) without blocking; NULL with errno if it can't.
void *piconet_sdp_open(uint64_t source, uint64_t device);
int piconet_sdp_socket(const void *session);
// The number of the question that is under way.
uint16_t piconet_sdp_transaction(const void *session);
// Asks for all attributes of all records that have the UUID, 16 bytes, big-endian. 0, or an errno.
int piconet_sdp_ask(void *session, const uint8_t *uuid);
// Takes the waiting packet and asks for what follows it: 0, or an errno. Only for a packet that has been checked
// before: the library trusts the lengths in it.
int piconet_sdp_continue(void *session);
// Copies the packet waiting on a socket and leaves it there. Returns its length, which may be above `limit`; 0 at the
// end; -1 with errno.
long piconet_socket_peek(int socket, uint8_t *buffer, size_t limit);
void piconet_sdp_close(void *session);
