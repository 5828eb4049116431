// O_PATH, O_TMPFILE, dup3, pipe2.
#define _GNU_SOURCE
#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "confinement.h"
#include "landlock.h"

static int allow(int rules, int place, uint64_t rights) {
  struct stat status;
  if (fstat(place, &status) != 0) return -1;
  if (!S_ISDIR(status.st_mode)) rights &= ~LANDLOCK_ACCESS_FS_READ_DIR;
  struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = place};
  return (int)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

// Rules by which nothing is left but reading in these places, and the input; a descriptor, or -1 with errno.
static int make_rules(const struct piconet_confined *program) {
  int version = piconet_landlock_version();
  if (version < 0) return -1;
  int rules = piconet_landlock_new(piconet_landlock_write_rights(version) | piconet_landlock_read_rights());
  if (rules < 0) return -1;
  int result = allow(rules, program->input, LANDLOCK_ACCESS_FS_READ_FILE);
  // A pipe has no place among files, and needs no rule.
  if (result < 0 && errno == EBADFD) result = 0;
  for (const char *const *path = program->readable; result == 0 && *path; path++) {
    int place = open(*path, O_PATH | O_CLOEXEC);
    if (place < 0) continue;
    result = allow(rules, place, piconet_landlock_read_rights());
    int error = errno;
    close(place);
    errno = error;
  }
  if (result == 0) return rules;
  int error = errno;
  close(rules);
  errno = error;
  return -1;
}

// A limit that is lower already stays: only root could raise it.
static int limit(int what, uint64_t value) {
  struct rlimit limits;
  if (getrlimit(what, &limits) != 0) return -1;
  if (limits.rlim_max < value) value = limits.rlim_max;
  limits.rlim_cur = limits.rlim_max = value;
  return setrlimit(what, &limits);
}

// At the soft limit SIGXCPU says why the program ends; where both are the same the kernel sends SIGKILL.
static int limit_processor(uint64_t seconds) {
  struct rlimit limits;
  if (getrlimit(RLIMIT_CPU, &limits) != 0) return -1;
  if (limits.rlim_max > seconds + 1) limits.rlim_max = seconds + 1;
  limits.rlim_cur = limits.rlim_max < seconds ? limits.rlim_max : seconds;
  return setrlimit(RLIMIT_CPU, &limits);
}

// In the child. Returns only if something fails, with errno, which `told` can be told: it changes on the way.
static void become(const struct piconet_confined *program, int rules, int *told, pid_t parent) {
  // Out of the terminal's reach, and it out of ours.
  setsid();
  // First: the files in /proc of a process that no other may inspect belong to root.
  piconet_confined_leave_root(program);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) return;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  // Above those that they are put into.
  int descriptors[5] = {program->input, program->output, program->error, *told, rules};
  for (int index = 0; index < 5; index++) {
    descriptors[index] = fcntl(descriptors[index], F_DUPFD_CLOEXEC, 5);
    if (descriptors[index] < 0) return;
  }
  *told = descriptors[3];
  for (int index = 0; index < 3; index++) {
    if (dup2(descriptors[index], index) < 0) return;
  }
  if (dup3(*told, 3, O_CLOEXEC) < 0) return;
  *told = 3;
  if (dup3(descriptors[4], 4, O_CLOEXEC) < 0) return;
  if (syscall(SYS_close_range, 5, ~0U, 0) != 0) return;
  if (chdir("/") != 0) return;
  if (limit(RLIMIT_AS, program->memory) != 0 || limit(RLIMIT_FSIZE, program->written) != 0 ||
      limit_processor(program->seconds) != 0 || limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_NOFILE, 64) != 0) {
    return;
  }
  if (piconet_landlock_restrict(4) != 0 || piconet_confined_filter_calls(program->words[0]) != 0) return;
  execve(program->words[0], (char *const *)program->words, (char *const *)program->variables);
}

pid_t piconet_confined_start(const struct piconet_confined *program) {
  int told[2];
  int rules = make_rules(program);
  if (rules < 0) return -1;
  if (pipe2(told, O_CLOEXEC) != 0) {
    int error = errno;
    close(rules);
    errno = error;
    return -1;
  }
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0) {
    become(program, rules, &told[1], parent);
    int error = errno;
    (void)!write(told[1], &error, sizeof error);
    _exit(127);
  }
  int error = errno;
  close(rules);
  close(told[1]);
  if (child > 0) {
    int failure = 0;
    ssize_t count;
    do {
      count = read(told[0], &failure, sizeof failure);
    } while (count < 0 && errno == EINTR);
    if (count == sizeof failure) {
      while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
      }
      child = -1;
      error = failure;
    }
  }
  close(told[0]);
  errno = error;
  return child;
}

int piconet_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int piconet_unnamed_file(const char *directory) {
  return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
}
