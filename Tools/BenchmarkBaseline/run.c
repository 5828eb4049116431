#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baseline.h"

static volatile pid_t child;

static void pass_on(int number) {
  if (child > 0) kill(child, number);
}

/* Measures a command from start to end. This process is small, so that the peak that the command inherits from it does
 * not count. The line goes to standard error: standard output is the command's own. */
int run(const struct options *options) {
  struct span start = begin();
  child = fork();
  if (child < 0) FAIL("fork");
  if (child == 0) {
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(options->command[0], options->command);
    FAIL(options->command[0]);
  }
  signal(SIGTERM, pass_on);
  signal(SIGINT, pass_on);
  int status;
  struct rusage usage;
  while (wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR) FAIL("wait4");
  struct span used = since(start);
  used.user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
  used.sys = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  fprintf(stderr,
          "\n{\"program\":\"tls-baseline\",\"mode\":\"run\",\"wall\":%.6f,\"user\":%.6f,\"sys\":%.6f,\"rss_kib\":%ld,"
          "\"status\":%d}\n",
          used.wall, used.user, used.sys, usage.ru_maxrss, code);
  return code;
}
