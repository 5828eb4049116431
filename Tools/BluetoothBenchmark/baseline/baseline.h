#pragma once

struct measurement {
  int is_rfcomm;
  const char *local, *remote;
  int port;
  long count, size;
};

double seconds(void);
void fail(const char *what) __attribute__((noreturn));

// A connected non-blocking socket: the receiver's after it has printed READY, the sender's once it is connected.
int accept_one(const struct measurement *wanted);
int connect_to(const struct measurement *wanted);
// Waits until the socket can be read (or written), ten seconds at most.
void await_socket(int descriptor, short events);

int receive_bytes(const struct measurement *wanted);
int send_bytes(const struct measurement *wanted);
int echo_messages(const struct measurement *wanted);
int ping_messages(const struct measurement *wanted);
int push_by_obexd(const char *local, const char *remote, const char *file);
