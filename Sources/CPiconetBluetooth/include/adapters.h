#pragma once

#include <stdint.h>

// One adapter as the kernel has it; no privilege is needed to ask.
struct piconet_adapter {
  uint64_t device;
  uint16_t index;
  // The largest piece of data that its controller takes at a time, and how many of them.
  uint16_t acl_mtu, acl_packets;
  uint8_t is_up, has_le, has_bredr;
};

// Writes at most `limit` adapters and returns how many there are of them, or -1 with errno.
int piconet_adapters(struct piconet_adapter *adapters, int limit);

// The last: the kernel is about to connect to it over LE.
enum piconet_link_kinds { piconet_link_bredr = 1, piconet_link_le = 2, piconet_link_le_pending = 4 };

// Which kinds of links the adapter with this number has to a device: a sum of the above, 0 for none or where that can't be told.
int piconet_links(uint16_t adapter, uint64_t device);

// A socket, non-blocking and closed on exec, that becomes readable when an adapter comes, goes, or is switched on or off; each
// event is read with recv(2). Events of that kind need no privilege. -1 with errno where it can't be made.
int piconet_adapter_events(void);
