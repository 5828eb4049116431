#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "baseline.h"

uint64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void pin(int cpu) {
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set)) FAIL("sched_setaffinity");
}

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

struct span begin(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (struct span){(double)nanoseconds() / 1e9, seconds(usage.ru_utime), seconds(usage.ru_stime)};
}

struct span since(struct span start) {
  struct span now = begin();
  return (struct span){now.wall - start.wall, now.user - start.user, now.sys - start.sys};
}

/* Not ru_maxrss: that inherits the peak of the program which started this one. */
long peak_resident_kib(void) {
  FILE *status = fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  if (!status) FAIL("/proc/self/status");
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, "VmHWM:", 6)) value = atol(line + 6);
  fclose(status);
  return value;
}

void report(const struct options *options, struct span used, long resident_kib) {
  printf("{\"program\":\"tls-baseline\",\"mode\":\"%s\",\"end\":\"%s\",\"wall\":%.6f,\"user\":%.6f,\"sys\":%.6f,\"rss_kib\":%ld",
         options->mode, options->server ? "server" : "client", used.wall, used.user, used.sys, resident_kib);
}
