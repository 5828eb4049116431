#pragma once

#include <stddef.h>
#include <stdint.h>

// Whether this process has CAP_NET_ADMIN and CAP_NET_RAW: 0, or EPERM.
int piconet_hci_permission(void);
// A raw socket of an adapter, non-blocking and closed on exec, that gets the events of inquiries and commands; each
// recv(2) is one of them, each send(2) one command. -1 with errno.
int piconet_hci_open(uint16_t index);
// Whether the adapter is up: 1 or 0; -1 with errno.
int piconet_hci_is_up(uint16_t index);
// Whether the adapter is discoverable (bit 0) and connectable (bit 1), as the kernel has it; -1 with errno.
int piconet_hci_scan(uint16_t index);
// Switches an adapter on or off, which takes some time: 0, or an errno. Switching on an adapter that is on succeeds.
int piconet_hci_set_up(uint16_t index, int is_up);
// Makes an adapter discoverable (bit 0) and connectable (bit 1), or not: 0, or an errno. Waits for the controller. The
// HCI command alone would not do: after every connection the kernel writes its own setting again.
int piconet_hci_set_scan(uint16_t index, uint8_t scan);
