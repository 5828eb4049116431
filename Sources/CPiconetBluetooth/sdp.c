#define _GNU_SOURCE
#include "sdp.h"

#include <bluetooth/bluetooth.h>
#include <bluetooth/sdp.h>
#include <bluetooth/sdp_lib.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

static void put_device(bdaddr_t *address, uint64_t device) {
  for (int i = 0; i < 6; i++) address->b[i] = (uint8_t)(device >> 8 * i);
}

void *piconet_sdp_open(uint64_t source, uint64_t device) {
  bdaddr_t from, to;
  put_device(&from, source);
  put_device(&to, device);
  sdp_session_t *session = sdp_connect(&from, &to, SDP_NON_BLOCKING);
  if (!session) return NULL;
  // The library has no option for it.
  int flags = fcntl(session->sock, F_GETFD);
  if (flags >= 0) fcntl(session->sock, F_SETFD, flags | FD_CLOEXEC);
  return session;
}

int piconet_sdp_socket(const void *session) { return sdp_get_socket(session); }

uint16_t piconet_sdp_transaction(const void *session) {
  // The library increments it when it asks.
  return (uint16_t)(((const sdp_session_t *)session)->tid - 1);
}

int piconet_sdp_ask(void *session, const uint8_t *uuid) {
  // Without a callback the library drops the data that it has assembled: we assemble it ourselves.
  if (sdp_set_notify(session, NULL, NULL) != 0) return EINVAL;
  uuid_t wanted;
  sdp_uuid128_create(&wanted, uuid);
  uint32_t all = 0x0000ffff;
  sdp_list_t search = {.data = &wanted}, attributes = {.data = &all};
  if (sdp_service_search_attr_async(session, &search, SDP_ATTR_REQ_RANGE, &attributes) == 0) return 0;
  int error = sdp_get_error(session);
  return error > 0 ? error : EIO;
}

int piconet_sdp_continue(void *session) {
  if (sdp_process(session) == 0) return 0;
  int error = sdp_get_error(session);
  return error > 0 ? error : EPROTO;
}

long piconet_socket_peek(int socket, uint8_t *buffer, size_t limit) {
  return recv(socket, buffer, limit, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
}

void piconet_sdp_close(void *session) { sdp_close(session); }
