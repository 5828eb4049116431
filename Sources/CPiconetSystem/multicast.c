#include "multicast.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif

/* struct in6_pktinfo is declared for _GNU_SOURCE only; this is its layout (RFC 3542, section 6). */
struct piconet_pktinfo6 {
  struct in6_addr address;
  unsigned int index;
};

static int set_option(int fd, int level, int name, int value) {
  return setsockopt(fd, level, name, &value, sizeof value);
}

int piconet_multicast_open(int is6, uint16_t port) {
  int fd = socket(is6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  int bad = 0;
  bad |= set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  bad |= set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (is6) {
    bad |= set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    bad |= set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, 255);
    bad |= set_option(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, 255);
    bad |= set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_LOOP, 1);
    bad |= set_option(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
    (void)set_option(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
  } else {
    bad |= set_option(fd, IPPROTO_IP, IP_MULTICAST_TTL, 255);
    bad |= set_option(fd, IPPROTO_IP, IP_TTL, 255);
    bad |= set_option(fd, IPPROTO_IP, IP_MULTICAST_LOOP, 1);
    bad |= set_option(fd, IPPROTO_IP, IP_PKTINFO, 1);
    (void)set_option(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
  }
  int rc;
  if (is6) {
    struct sockaddr_in6 any;
    memset(&any, 0, sizeof any);
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(port);
    rc = bind(fd, (struct sockaddr *)&any, sizeof any);
  } else {
    struct sockaddr_in any;
    memset(&any, 0, sizeof any);
    any.sin_family = AF_INET;
    any.sin_port = htons(port);
    rc = bind(fd, (struct sockaddr *)&any, sizeof any);
  }
  if (bad || rc < 0) {
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
  }
  return fd;
}

int piconet_multicast_member(int fd, int is6, const uint8_t *group, uint32_t index, int join) {
  if (is6) {
    struct ipv6_mreq request;
    memcpy(&request.ipv6mr_multiaddr, group, 16);
    request.ipv6mr_interface = index;
    return setsockopt(fd, IPPROTO_IPV6, join ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP, &request, sizeof request);
  }
  struct ip_mreqn request;
  memset(&request, 0, sizeof request);
  memcpy(&request.imr_multiaddr, group, 4);
  request.imr_ifindex = (int)index;
  return setsockopt(fd, IPPROTO_IP, join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP, &request, sizeof request);
}

ssize_t piconet_multicast_send(int fd, int is6, const void *bytes, size_t count, const struct piconet_datagram *to) {
  union {
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } name;
  union {
    struct cmsghdr header;
    uint8_t space[CMSG_SPACE(sizeof(struct piconet_pktinfo6))];
  } control;
  memset(&name, 0, sizeof name);
  memset(&control, 0, sizeof control);
  struct iovec part = {(void *)(uintptr_t)bytes, count};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  message.msg_name = &name;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  if (is6) {
    name.v6.sin6_family = AF_INET6;
    name.v6.sin6_port = htons(to->port);
    memcpy(&name.v6.sin6_addr, to->address, 16);
    name.v6.sin6_scope_id = to->index;
    message.msg_namelen = sizeof name.v6;
    struct piconet_pktinfo6 info;
    memset(&info, 0, sizeof info);
    info.index = to->index;
    control.header.cmsg_level = IPPROTO_IPV6;
    control.header.cmsg_type = IPV6_PKTINFO;
    control.header.cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(&control.header), &info, sizeof info);
    message.msg_controllen = CMSG_SPACE(sizeof info);
  } else {
    name.v4.sin_family = AF_INET;
    name.v4.sin_port = htons(to->port);
    memcpy(&name.v4.sin_addr, to->address, 4);
    message.msg_namelen = sizeof name.v4;
    struct in_pktinfo info;
    memset(&info, 0, sizeof info);
    info.ipi_ifindex = (int)to->index;
    control.header.cmsg_level = IPPROTO_IP;
    control.header.cmsg_type = IP_PKTINFO;
    control.header.cmsg_len = CMSG_LEN(sizeof info);
    memcpy(CMSG_DATA(&control.header), &info, sizeof info);
    message.msg_controllen = CMSG_SPACE(sizeof info);
  }
  return sendmsg(fd, &message, MSG_NOSIGNAL);
}

ssize_t piconet_multicast_receive(int fd, int is6, void *bytes, size_t capacity, struct piconet_datagram *from) {
  union {
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
  } name;
  union {
    struct cmsghdr header;
    uint8_t space[256];
  } control;
  struct iovec part = {bytes, capacity};
  struct msghdr message;
  memset(&message, 0, sizeof message);
  memset(&name, 0, sizeof name);
  memset(from, 0, sizeof *from);
  message.msg_name = &name;
  message.msg_namelen = sizeof name;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = &control;
  message.msg_controllen = sizeof control;
  ssize_t count = recvmsg(fd, &message, MSG_DONTWAIT);
  if (count < 0) return -1;
  if (message.msg_flags & MSG_TRUNC) {
    errno = EMSGSIZE;
    return -1;
  }
  if (is6) {
    memcpy(from->address, &name.v6.sin6_addr, 16);
    from->port = ntohs(name.v6.sin6_port);
  } else {
    memcpy(from->address, &name.v4.sin_addr, 4);
    from->port = ntohs(name.v4.sin_port);
  }
  for (struct cmsghdr *entry = CMSG_FIRSTHDR(&message); entry; entry = CMSG_NXTHDR(&message, entry)) {
    if (entry->cmsg_level == IPPROTO_IP && entry->cmsg_type == IP_PKTINFO) {
      struct in_pktinfo info;
      memcpy(&info, CMSG_DATA(entry), sizeof info);
      from->index = (uint32_t)info.ipi_ifindex;
      memcpy(from->destination, &info.ipi_addr, 4);
    } else if (entry->cmsg_level == IPPROTO_IPV6 && entry->cmsg_type == IPV6_PKTINFO) {
      struct piconet_pktinfo6 info;
      memcpy(&info, CMSG_DATA(entry), sizeof info);
      from->index = info.index;
      memcpy(from->destination, &info.address, 16);
    }
  }
  return count;
}

int piconet_route_open(int blocking) {
  uint32_t groups = blocking ? 0 : RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK), NETLINK_ROUTE);
  if (fd < 0) return -1;
  struct sockaddr_nl name;
  memset(&name, 0, sizeof name);
  name.nl_family = AF_NETLINK;
  name.nl_groups = groups;
  struct timeval patience = {2, 0};
  if (bind(fd, (struct sockaddr *)&name, sizeof name) < 0 ||
      (blocking && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) < 0)) {
    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
  }
  return fd;
}

int piconet_route_dump(int fd, int addresses) {
  struct {
    struct nlmsghdr header;
    struct rtgenmsg body;
  } request;
  memset(&request, 0, sizeof request);
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
  request.header.nlmsg_type = addresses ? RTM_GETADDR : RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.header.nlmsg_seq = 1;
  request.body.rtgen_family = AF_UNSPEC;
  return send(fd, &request, request.header.nlmsg_len, 0) < 0 ? -1 : 0;
}

ssize_t piconet_route_receive(int fd, void *bytes, size_t capacity) {
  struct sockaddr_nl name;
  memset(&name, 0, sizeof name);
  socklen_t length = sizeof name;
  ssize_t count = recvfrom(fd, bytes, capacity, 0, (struct sockaddr *)&name, &length);
  if (count < 0) return -1;
  return name.nl_pid == 0 ? count : 0;
}
