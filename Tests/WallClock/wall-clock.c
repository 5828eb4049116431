// Preloaded into a program (LD_PRELOAD), it sets the program's wall clock: by as many seconds as the file has that
// WALL_CLOCK names, 8 bytes in this machine's order, which a test changes while the program runs. Times of files are
// the kernel's and stay right, as they were before a clock was set back.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t none = 0;
static const volatile int64_t *offset = &none;
static int (*next_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) {
  // Function pointers of dlsym: POSIX.1-2017, dlsym(3).
  *(void **)&next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("WALL_CLOCK");
  int descriptor = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  void *place = descriptor < 0 ? MAP_FAILED : mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, descriptor, 0);
  if (place == MAP_FAILED) abort();
  close(descriptor);
  offset = place;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!next_clock_gettime) *(void **)&next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  int failed = next_clock_gettime(clock, now);
  if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset;
  return failed;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec exact;
  clock_gettime(CLOCK_REALTIME, &exact);
  now->tv_sec = exact.tv_sec;
  now->tv_usec = exact.tv_nsec / 1000;
  return 0;
}
