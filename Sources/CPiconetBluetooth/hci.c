#define _GNU_SOURCE
#include "hci.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/hci.h>
#include <bluetooth/hci_lib.h>
#include <errno.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int piconet_hci_permission(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
  if (syscall(SYS_capget, &header, data) != 0) return errno;
  uint32_t wanted = 1u << CAP_NET_ADMIN | 1u << CAP_NET_RAW;
  return (data[0].effective & wanted) == wanted ? 0 : EPERM;
}

static int open_socket(void) { return socket(AF_BLUETOOTH, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, BTPROTO_HCI); }

int piconet_hci_open(uint16_t index) {
  int descriptor = open_socket();
  if (descriptor < 0) return -1;
  struct hci_filter filter;
  hci_filter_clear(&filter);
  hci_filter_set_ptype(HCI_EVENT_PKT, &filter);
  hci_filter_set_event(EVT_INQUIRY_COMPLETE, &filter);
  hci_filter_set_event(EVT_EXTENDED_INQUIRY_RESULT, &filter);
  hci_filter_set_event(EVT_CMD_COMPLETE, &filter);
  hci_filter_set_event(EVT_CMD_STATUS, &filter);
  struct sockaddr_hci name = {.hci_family = AF_BLUETOOTH, .hci_dev = index, .hci_channel = HCI_CHANNEL_RAW};
  if (setsockopt(descriptor, SOL_HCI, HCI_FILTER, &filter, sizeof filter) == 0 &&
      bind(descriptor, (struct sockaddr *)&name, sizeof name) == 0)
    return descriptor;
  int error = errno;
  close(descriptor);
  errno = error;
  return -1;
}

int piconet_hci_is_up(uint16_t index) {
  int descriptor = open_socket();
  if (descriptor < 0) return -1;
  struct hci_dev_info info = {.dev_id = index};
  int result = ioctl(descriptor, HCIGETDEVINFO, &info), error = errno;
  close(descriptor);
  errno = error;
  return result == 0 ? (info.flags >> HCI_UP & 1) != 0 : -1;
}

int piconet_hci_scan(uint16_t index) {
  int descriptor = open_socket();
  if (descriptor < 0) return -1;
  struct hci_dev_info info = {.dev_id = index};
  int result = ioctl(descriptor, HCIGETDEVINFO, &info), error = errno;
  close(descriptor);
  errno = error;
  if (result != 0) return -1;
  return (info.flags >> HCI_ISCAN & 1 ? SCAN_INQUIRY : 0) | (info.flags >> HCI_PSCAN & 1 ? SCAN_PAGE : 0);
}

int piconet_hci_set_up(uint16_t index, int is_up) {
  int descriptor = open_socket();
  if (descriptor < 0) return errno;
  int error = ioctl(descriptor, is_up ? HCIDEVUP : HCIDEVDOWN, index) == 0 ? 0 : errno;
  close(descriptor);
  return is_up && error == EALREADY ? 0 : error;
}

int piconet_hci_set_scan(uint16_t index, uint8_t scan) {
  int descriptor = open_socket();
  if (descriptor < 0) return errno;
  struct hci_dev_req request = {.dev_id = index, .dev_opt = scan};
  int error = ioctl(descriptor, HCISETSCAN, &request) == 0 ? 0 : errno;
  close(descriptor);
  return error;
}
