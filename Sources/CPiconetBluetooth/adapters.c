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
    // Gone meanwhile.
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
