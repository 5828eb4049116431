#pragma once

#include <stdint.h>

// An adapter as the kernel has it; asking needs no privilege.
struct piconet_adapter {
  uint64_t device;
  uint16_t index;
  // The largest piece of data that its controller takes at a time, and how many such pieces.
  uint16_t acl_mtu, acl_packets;
  uint8_t is_up, has_le, has_bredr;
};

// Writes at most `limit` adapters and returns how many it has written, or -1 with errno.
int piconet_adapters(struct piconet_adapter *adapters, int limit);

// The last one means that the kernel is about to connect to it over LE.
enum piconet_link_kinds { piconet_link_bredr = 1, piconet_link_le = 2, piconet_link_le_pending = 4 };

// Which kinds of links the adapter with this number has to a device: a sum of the above, 0 for none or if that can't be
// told.
int piconet_links(uint16_t adapter, uint64_t device);

// A socket, non-blocking and closed on exec, that becomes readable when an adapter comes, goes, or is switched on or
// off; each event is read with recv(2). Events of that kind need no privilege. -1 with errno if it can't be made.
int piconet_adapter_events(void);
