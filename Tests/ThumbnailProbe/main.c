// What a process that was confined as piconet-thumbnail is may still do, on every thread that it can make.
//
//   thumbnail-probe alone      as it is: the only thread tries everything
//   thumbnail-probe threads    with what threads take beside: six of them try everything, one made by another
//   thumbnail-probe late       is not confined, since it has two threads
//   thumbnail-probe foreign    makes a call by x86's 32-bit numbers; for others to confine
//
// Each try is a line, such as `second socket EPERM`.
#define _GNU_SOURCE
#include "PiconetThumbnail.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pid_t own;

static void tell(const char *who, const char *act, long result) {
  const char *name = result >= 0 ? "ok" : strerrorname_np(errno);
  char line[128];
  int length = snprintf(line, sizeof line, "%s %s %s\n", who, act, name);
  for (int sent = 0; sent < length;) {
    ssize_t part = write(STDOUT_FILENO, line + sent, (size_t)(length - sent));
    if (part <= 0) _exit(5);
    sent += (int)part;
  }
}

static long map(int protection) {
  return mmap(NULL, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0;
}

static void *no_work(void *argument) { return argument; }

static void attempt(const char *who, int makes_thread) {
  char byte = 0;
  struct iovec part = {.iov_base = &byte, .iov_len = 1};
  char *const words[] = {(char *)"true", NULL};
  pthread_mutex_lock(&turn);
  tell(who, "open", open("/etc/passwd", O_RDONLY));
  tell(who, "create", open("/tmp/thumbnail-probe", O_WRONLY | O_CREAT, 0600));
  tell(who, "stat", access("/etc/passwd", F_OK));
  tell(who, "unlink", unlink("/tmp/thumbnail-probe"));
  tell(who, "socket", socket(AF_INET, SOCK_STREAM, 0));
  tell(who, "unix-socket", socket(AF_UNIX, SOCK_STREAM, 0));
  tell(who, "exec", execve("/bin/true", words, words + 1));
  tell(who, "fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  tell(who, "ptrace", ptrace(PTRACE_TRACEME, 0, NULL, NULL));
  tell(who, "kill", kill(own, 0));
  tell(who, "signal-thread", syscall(SYS_tgkill, own, own, 0));
  tell(who, "other-memory", process_vm_readv(own, &part, 1, &part, 1, 0));
  tell(who, "io-uring", syscall(SYS_io_uring_setup, 1, NULL));
  tell(who, "bpf", syscall(SYS_bpf, 0, NULL, 0));
  tell(who, "memory-file", memfd_create("probe", 0));
  tell(who, "duplicate", dup(STDOUT_FILENO));
  tell(who, "limits", syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, NULL));
  tell(who, "control", ioctl(STDOUT_FILENO, 0));
  tell(who, "other-input", read(3, &byte, 1));
  tell(who, "other-output", write(STDERR_FILENO, &byte, 1));
  tell(who, "executable-memory", map(PROT_READ | PROT_EXEC));
  tell(who, "memory", map(PROT_READ | PROT_WRITE));
  if (makes_thread) {
    pthread_t thread;
    errno = pthread_create(&thread, NULL, no_work, NULL);
    tell(who, "thread", errno ? -1 : 0);
  }
  pthread_mutex_unlock(&turn);
}

static void *work(void *argument) {
  if (strcmp(argument, "nested") == 0) {
    attempt(argument, 0);
    return NULL;
  }
  pthread_t nested;
  int has_nested = strcmp(argument, "fifth") == 0 && pthread_create(&nested, NULL, work, (void *)"nested") == 0;
  attempt(argument, 0);
  if (has_nested) pthread_join(nested, NULL);
  return NULL;
}

static void *wait_for_ever(void *argument) {
  pause();
  return argument;
}

int main(int count, char **words) {
  const char *mode = count > 1 ? words[1] : "";
  const struct piconet_thumbnail_limits limits = {.memory = 256u << 20, .seconds = 10};
  own = getpid();
  if (strcmp(mode, "late") == 0) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0) return 4;
    const char *step = piconet_thumbnail_confine(limits, NULL, 0);
    tell("main", step ? step : "was confined", 0);
    // It may still do everything.
    tell("main", "open", open("/etc/passwd", O_RDONLY));
    return 0;
  }
#ifdef __x86_64__
  if (strcmp(mode, "foreign") == 0) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid */) : "memory");
    return result > 0 ? 0 : 7;
  }
#endif
  if (strcmp(mode, "alone") == 0) {
    if (piconet_thumbnail_confine(limits, NULL, 0)) return 3;
    attempt("main", 1);
    _exit(0);
  }
  const int calls[] = {SYS_clone3,  SYS_mprotect,       SYS_madvise, SYS_futex,
                       SYS_rseq,    SYS_rt_sigprocmask, SYS_set_robust_list};
  if (strcmp(mode, "threads") != 0) return 2;
  if (piconet_thumbnail_confine(limits, calls, sizeof calls / sizeof *calls)) return 3;
  static char *const names[] = {"first", "second", "third", "fourth", "fifth"};
  pthread_t threads[sizeof names / sizeof *names];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (pthread_create(&threads[i], NULL, work, names[i]) != 0) _exit(6);
  attempt("main", 0);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) pthread_join(threads[i], NULL);
  _exit(0);
}
