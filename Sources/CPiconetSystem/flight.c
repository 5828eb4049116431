// <linux/tcp.h> and <netinet/tcp.h> can't be included in the same file; only the kernel's has `tcpi_min_rtt`.
#include <asm/ioctls.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

int piconet_tcp_flight(int socket, int *outstanding, unsigned *shortest_round_trip) {
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
  // ~0: none yet.
  *shortest_round_trip = info.tcpi_min_rtt == ~0U ? 0 : info.tcpi_min_rtt;
  return ioctl(socket, SIOCOUTQ, outstanding);
}
