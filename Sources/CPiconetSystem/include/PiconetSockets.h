#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/// accept4(2) with SOCK_NONBLOCK and SOCK_CLOEXEC.
int piconet_accept(int listener, struct sockaddr_storage *address);

/// socket(2) for a TCP socket of `family` with SOCK_NONBLOCK and SOCK_CLOEXEC.
int piconet_tcp_socket(int family);

/// setsockopt(2) with one int. Returns 0, or -1 with errno.
int piconet_set_option(int socket, int level, int name, int value);

/// The socket's pending error (SO_ERROR), which this clears; 0 if there is none.
int piconet_socket_error(int socket);

/// Makes the next close(2) send a reset and throw unsent bytes away (SO_LINGER with zero).
int piconet_set_abortive_close(int socket);

/// send(2) without SIGPIPE, and recv(2); both are repeated after EINTR.
ssize_t piconet_send(int socket, const void *bytes, size_t count);
ssize_t piconet_receive(int socket, void *bytes, size_t count);

/// sendmmsg(2) without SIGPIPE: sends a prefix of the bytes as messages of `piece` bytes and a shorter last one, at
/// most `piconet_pieces` of them. Returns how many bytes were taken, or -1 with errno.
ssize_t piconet_send_pieces(int socket, const void *bytes, size_t count, size_t piece);

/// What the kernel knows about a TCP connection: bytes unsent or unacknowledged (SIOCOUTQ), and the shortest round trip
/// in microseconds (`tcpi_min_rtt`), 0 if it has seen none. Returns 0, or -1 with errno.
int piconet_tcp_flight(int socket, int *outstanding, unsigned *shortest_round_trip);

enum {
  piconet_pieces = 64,
  piconet_level_tcp = IPPROTO_TCP,
  piconet_level_ipv6 = IPPROTO_IPV6,
};
