#define _GNU_SOURCE
#include "adapters.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// The bits of "LE Supported (Controller)", "BR/EDR Not Supported" in byte 4 of the LMP features (Core 5.4,
// Vol 2 Part C 3.3).
enum { feature_byte = 4, no_bredr_bit = 0x20, le_bit = 0x40 };

// The kernel's LE_LINK, which <bluetooth/hci.h> lacks.
enum { le_link_type = 0x80 };

int piconet_adapters(struct piconet_adapter *adapters, int limit) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
  if (descriptor < 0) return -1;
  struct hci_dev_list_req *list = calloc(1, sizeof *list + HCI_MAX_DEV * sizeof(struct hci_dev_req));
  int count = -1, error = ENOMEM;
  if (list) {
    list->dev_num = HCI_MAX_DEV;
    if (ioctl(descriptor, HCIGETDEVLIST, list) == 0) count = 0;
    error = errno;
  }
  for (int i = 0; count >= 0 && i < list->dev_num && count < limit; i++) {
    struct hci_dev_info info = {.dev_id = list->dev_req[i].dev_id};
    // It has gone meanwhile.
    if (ioctl(descriptor, HCIGETDEVINFO, &info) != 0) continue;
    struct piconet_adapter *adapter = &adapters[count++];
    *adapter = (struct piconet_adapter){.index = info.dev_id,
                                        .acl_mtu = info.acl_mtu,
                                        .acl_packets = info.acl_pkts,
                                        .is_up = (info.flags >> HCI_UP & 1) != 0,
                                        .has_le = (info.features[feature_byte] & le_bit) != 0,
                                        .has_bredr = (info.features[feature_byte] & no_bredr_bit) == 0};
    for (int byte = 5; byte >= 0; byte--) adapter->device = adapter->device << 8 | info.bdaddr.b[byte];
  }
  free(list);
  close(descriptor);
  if (count < 0) errno = error;
  return count;
}

int piconet_links(uint16_t adapter, uint64_t device) {
  // Seven over BR/EDR, and those over LE, of which controllers support a few dozen.
  enum { limit = 64 };
  int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC, BTPROTO_HCI);
  if (descriptor < 0) return 0;
  struct hci_conn_list_req *list = calloc(1, sizeof *list + limit * sizeof(struct hci_conn_info));
  int kinds = 0;
  if (list) {
    list->dev_id = adapter;
    list->conn_num = limit;
    if (ioctl(descriptor, HCIGETCONNLIST, list) != 0) list->conn_num = 0;
  }
  for (int i = 0; list && i < list->conn_num; i++) {
    const struct hci_conn_info *link = &list->conn_info[i];
    uint64_t peer = 0;
    for (int byte = 5; byte >= 0; byte--) peer = peer << 8 | link->bdaddr.b[byte];
    if (peer != device) continue;
    if (link->state == BT_CONNECT && link->type == le_link_type) kinds |= piconet_link_le_pending;
    if (link->state != BT_CONNECTED) continue;
    if (link->type == ACL_LINK) kinds |= piconet_link_bredr;
    if (link->type == le_link_type) kinds |= piconet_link_le;
  }
  free(list);
  close(descriptor);
  return kinds;
}

int piconet_adapter_events(void) {
  int descriptor = socket(AF_BLUETOOTH, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_HCI);
  if (descriptor < 0) return -1;
  struct sockaddr_hci name = {
      .hci_family = AF_BLUETOOTH, .hci_dev = HCI_DEV_NONE, .hci_channel = HCI_CHANNEL_CONTROL};
  if (bind(descriptor, (struct sockaddr *)&name, sizeof name) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}
