// pthread_setattr_default_np(3).
#define _GNU_SOURCE
#include "process-limits.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { pause_of_descriptors = 10, patience_for_descriptors = 5000 };

bool piconet_awaits_descriptor(int error, int *waited) {
  if ((error != EMFILE && error != ENFILE) || *waited >= patience_for_descriptors) return false;
  *waited += pause_of_descriptors;
  const struct timespec pause = {.tv_nsec = pause_of_descriptors * 1000000L};
  nanosleep(&pause, NULL);
  return true;
}

uint64_t piconet_descriptor_limit(void) {
  struct rlimit limits;
  return getrlimit(RLIMIT_NOFILE, &limits) == 0 ? limits.rlim_cur : 1024;
}

void piconet_raise_descriptor_limit(void) {
  struct rlimit limits;
  if (getrlimit(RLIMIT_NOFILE, &limits) != 0 || limits.rlim_cur == limits.rlim_max) return;
  limits.rlim_cur = limits.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limits);
}

uint64_t piconet_address_space_limit(void) {
  struct rlimit limits;
  if (getrlimit(RLIMIT_AS, &limits) != 0 || limits.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limits.rlim_cur;
}

/// The bytes that are mapped (proc_pid_statm(5)); 0 if that is not told.
static uint64_t address_space(void) {
  char text[32] = "";
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t count = read(file, text, sizeof text - 1);
  close(file);
  return count > 0 ? strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

uint64_t piconet_fit_address_space(void) {
  uint64_t limit = piconet_address_space_limit();
  if (limit == UINT64_MAX) return limit;
  mallopt(M_ARENA_MAX, 1);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) == 0) {
    if (pthread_attr_setstacksize(&attributes, 1 << 20) == 0) pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
  }
  uint64_t used = address_space();
  return limit > used ? limit - used : 0;
}
