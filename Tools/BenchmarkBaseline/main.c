#include <errno.h>
#include <openssl/err.h>
#include <signal.h>
#include <string.h>

#include "baseline.h"

_Noreturn void fail(const char *file, int line, const char *what) {
  fprintf(stderr, "tls-baseline: %s (%s:%d): %s\n", what, file, line, strerror(errno));
  ERR_print_errors_fp(stderr);
  exit(1);
}

static _Noreturn void usage(void) {
  fprintf(stderr,
          "usage: tls-baseline pingpong|bulk|rate --server|--client [--port N] [--cpu N] [--size N] [--count N]\n"
          "                    [--file F] [--out F] [--sha256] [--untimed]\n"
          "       tls-baseline run [--cpu N] -- COMMAND...\n");
  exit(2);
}

static unsigned long long number(const char *text, unsigned long long most) {
  char *end = NULL;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno || end == text || *end || *text == '-' || value > most) usage();
  return value;
}

int main(int argc, char **argv) {
  struct options options = {.cpu = -1, .size = 64, .count = 20000};
  if (argc < 2) usage();
  options.mode = argv[1];
  bool is_run = !strcmp(options.mode, "run"), has_end = false;
  for (int i = 2; i < argc; i++) {
    const char *option = argv[i];
    if (!strcmp(option, "--server") || !strcmp(option, "--client")) {
      options.server = option[2] == 's';
      has_end = true;
    } else if (!strcmp(option, "--sha256")) {
      options.sha256 = true;
    } else if (!strcmp(option, "--untimed")) {
      options.untimed = true;
    } else if (!strcmp(option, "--") && is_run) {
      options.command = argv + i + 1;
      break;
    } else if (i + 1 == argc) {
      usage();
    } else {
      const char *value = argv[++i];
      if (!strcmp(option, "--port")) options.port = (uint16_t)number(value, 65535);
      else if (!strcmp(option, "--cpu")) options.cpu = (int)number(value, 1023);
      else if (!strcmp(option, "--size")) options.size = (size_t)number(value, 1 << 20);
      else if (!strcmp(option, "--count")) options.count = number(value, 1ull << 32);
      else if (!strcmp(option, "--file")) options.file = value;
      else if (!strcmp(option, "--out")) options.out = value;
      else usage();
    }
  }
  if (!options.size || !options.count) usage();
  signal(SIGPIPE, SIG_IGN);
  pin(options.cpu);

  if (is_run) {
    if (!options.command || !*options.command) usage();
    return run(&options);
  }
  if (!has_end || (!options.server && !options.port)) usage();
  if (!strcmp(options.mode, "pingpong")) pingpong(&options);
  else if (!strcmp(options.mode, "bulk")) bulk(&options);
  else if (!strcmp(options.mode, "rate")) rate(&options);
  else usage();
  return 0;
}
