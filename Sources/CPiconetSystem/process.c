#define _GNU_SOURCE
#include "PiconetProcess.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>

int piconet_pin_to_processor(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (processor < 0 || processor >= CPU_SETSIZE) return EINVAL;
  CPU_SET(processor, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

int piconet_signal_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
