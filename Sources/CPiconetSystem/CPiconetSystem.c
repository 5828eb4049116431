// Only here: in a header it would make clang's modules disagree about the system headers.
#define _GNU_SOURCE
#include "CPiconetSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>

int piconet_alarm_new(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC); }

void piconet_alarm_set(int alarm, int64_t nanoseconds) {
  if (nanoseconds < 1) nanoseconds = 1;
  struct itimerspec time = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
  timerfd_settime(alarm, 0, &time, NULL);
}

struct start {
  void *(*body)(void *);
  void *argument;
  char name[16];
};

// Naming another thread writes to /proc, which a program that is confined may not; each may name itself.
static void *start_named(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  prctl(PR_SET_NAME, start.name);
  return start.body(start.argument);
}

int piconet_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *argument) {
  struct start *start = malloc(sizeof *start);
  if (!start) return ENOMEM;
  start->body = body;
  start->argument = argument;
  strncpy(start->name, name, sizeof start->name - 1);
  start->name[sizeof start->name - 1] = 0;
  sigset_t blocked, before;
  sigfillset(&blocked);
  const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
  for (unsigned i = 0; i < sizeof own / sizeof own[0]; i++) sigdelset(&blocked, own[i]);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  int error = pthread_create(thread, NULL, start_named, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error != 0) {
    free(start);
    return error;
  }
  // Where that can be, it has its name when this returns.
  char kept[16];
  strncpy(kept, name, sizeof kept - 1);
  kept[sizeof kept - 1] = 0;
  pthread_setname_np(*thread, kept);
  return 0;
}

int piconet_accept(int listener, struct sockaddr_storage *address) {
  socklen_t length = sizeof *address;
  return accept4(listener, (struct sockaddr *)address, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

int piconet_tcp_socket(int family) {
  return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
}

int piconet_set_option(int socket, int level, int name, int value) {
  return setsockopt(socket, level, name, &value, sizeof value);
}

int piconet_socket_error(int socket) {
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

int piconet_set_abortive_close(int socket) {
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  return setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

ssize_t piconet_send(int socket, const void *bytes, size_t count) {
  ssize_t sent;
  do sent = send(socket, bytes, count, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t piconet_send_pieces(int socket, const void *bytes, size_t count, size_t piece) {
  if (count <= piece) return piconet_send(socket, bytes, count);
  struct mmsghdr messages[piconet_pieces] = {0};
  struct iovec pieces[piconet_pieces];
  unsigned number = 0;
  for (size_t at = 0; at < count && number < piconet_pieces; at += piece, number++) {
    size_t left = count - at;
    pieces[number] = (struct iovec){.iov_base = (char *)bytes + at, .iov_len = left < piece ? left : piece};
    messages[number].msg_hdr = (struct msghdr){.msg_iov = &pieces[number], .msg_iovlen = 1};
  }
  int written;
  do written = sendmmsg(socket, messages, number, MSG_NOSIGNAL);
  while (written < 0 && errno == EINTR);
  if (written < 0) return -1;
  ssize_t sent = 0;
  // The kernel stops at a piece that it takes only in part.
  for (int i = 0; i < written; i++) sent += messages[i].msg_len;
  return sent;
}

ssize_t piconet_receive(int socket, void *bytes, size_t count) {
  ssize_t received;
  do received = recv(socket, bytes, count, 0);
  while (received < 0 && errno == EINTR);
  return received;
}

const char *piconet_error_name(int number) {
  const char *name = strerrorname_np(number);
  return name ? name : "unknown error";
}

const char *piconet_error_description(int number) {
  const char *text = strerrordesc_np(number);
  return text ? text : "unknown error";
}

void piconet_refresh_status(int directory, const char *name) {
  struct statx status;
  (void)statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &status);
}
