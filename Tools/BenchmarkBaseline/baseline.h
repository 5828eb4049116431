/* tls-baseline: what plain blocking sockets with OpenSSL's TLS 1.3 reach, to measure Piconet against in the same run.
 *
 *   tls-baseline pingpong|bulk|rate --server|--client [--port N] [--cpu N] [--size N] [--count N] [--file F] [--out F] [--sha256]
 *               [--untimed]
 *   tls-baseline run [--cpu N] -- COMMAND...
 *
 * Each end is a process of its own on 127.0.0.1. The server prints "READY PORT" as soon as it listens; --port 0 takes a free one.
 * Each end prints one JSON line when it is done: program, mode, end, size, count, bytes, wall, user, sys (seconds of the
 * timed part: after the handshake and the warm-up), rss_kib (peak resident set of the process) and, at the client of pingpong,
 * p50_us and p99_us. `run` measures another program from start to end in the same terms.
 */
#pragma once
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct options {
  const char *mode;
  bool server;
  uint16_t port;
  int cpu; /* -1: not pinned */
  size_t size;
  uint64_t count;
  const char *file, *out;
  bool sha256;
  bool untimed; /* pingpong keeps no times of round trips, and sorts none */
  char **command; /* of run */
};

/* Ends the program with errno and OpenSSL's errors, if there are any. */
#define FAIL(what) fail(__FILE__, __LINE__, what)
_Noreturn void fail(const char *file, int line, const char *what);

/* channel.c: one TLS connection between the two ends; every call blocks and ends the program if it fails. */
SSL *open_channel(const struct options *options);
void send_bytes(SSL *channel, const void *bytes, size_t count);
void receive_bytes(SSL *channel, void *bytes, size_t count);
/* Between 1 and `count` bytes. */
size_t receive_some(SSL *channel, void *bytes, size_t count);

/* certificate.c: a self-signed P-256 certificate, made in memory. */
void use_new_certificate(SSL_CTX *context);

/* measure.c */
struct span {
  double wall, user, sys;
};
uint64_t nanoseconds(void);
void pin(int cpu);
struct span begin(void);
struct span since(struct span start);
long peak_resident_kib(void);
/* Opens a JSON line with what every mode states; the mode prints more members, then "}\n". */
void report(const struct options *options, struct span used, long resident_kib);

void pingpong(const struct options *options);
void bulk(const struct options *options);
void rate(const struct options *options);
int run(const struct options *options);
