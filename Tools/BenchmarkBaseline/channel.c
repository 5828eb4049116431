#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "baseline.h"

/* bbr, where it is the default, paces even on loopback and hides what a program costs. */
static const char congestion_control[] = "cubic";

static int new_socket(void) {
  int one = 1, descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) FAIL("socket");
  if (setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)) FAIL("TCP_NODELAY");
  if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one)) FAIL("SO_REUSEADDR");
  /* May be forbidden to ordinary users, and needless where it is the default or the route's: checked once connected. */
  setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, congestion_control, sizeof congestion_control - 1);
  return descriptor;
}

static void check_congestion_control(int descriptor) {
  char name[16] = "";
  socklen_t length = sizeof name;
  if (getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name, &length)) FAIL("TCP_CONGESTION");
  if (strcmp(name, congestion_control)) FAIL("the congestion control is not cubic");
}

static int accept_one(uint16_t port) {
  int listener = new_socket();
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  socklen_t length = sizeof address;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 1)) FAIL("bind, listen");
  if (getsockname(listener, (struct sockaddr *)&address, &length)) FAIL("getsockname");
  printf("READY %u\n", ntohs(address.sin_port));
  fflush(stdout);
  /* Congestion control and TCP_NODELAY are inherited from the listener. */
  int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (descriptor < 0) FAIL("accept");
  close(listener);
  return descriptor;
}

static int connect_one(uint16_t port) {
  int descriptor = new_socket();
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address)) FAIL("connect");
  return descriptor;
}

static SSL_CTX *new_context(bool server) {
  SSL_CTX *context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method());
  if (!context || !SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION)) FAIL("TLS 1.3");
  if (!SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256")) FAIL("AES-128-GCM");
  /* Several records with one read(2). */
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, 256 << 10);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context, 0);
  if (server) use_new_certificate(context);
  return context;
}

SSL *open_channel(const struct options *options) {
  SSL_CTX *context = new_context(options->server);
  int descriptor = options->server ? accept_one(options->port) : connect_one(options->port);
  check_congestion_control(descriptor);
  SSL *channel = SSL_new(context);
  if (!channel || !SSL_set_fd(channel, descriptor)) FAIL("channel");
  if ((options->server ? SSL_accept(channel) : SSL_connect(channel)) != 1) FAIL("handshake");
  SSL_CTX_free(context);
  return channel;
}

void send_bytes(SSL *channel, const void *bytes, size_t count) {
  size_t written;
  if (SSL_write_ex(channel, bytes, count, &written) != 1 || written != count) FAIL("send");
}

size_t receive_some(SSL *channel, void *bytes, size_t count) {
  size_t received;
  if (SSL_read_ex(channel, bytes, count, &received) != 1) FAIL("receive");
  return received;
}

void receive_bytes(SSL *channel, void *bytes, size_t count) {
  for (unsigned char *next = bytes; count;) {
    size_t received = receive_some(channel, next, count);
    next += received;
    count -= received;
  }
}
