// F_DUPFD_CLOEXEC.
#define _GNU_SOURCE
#include "confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define PICONET_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define PICONET_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef PICONET_ARCHITECTURE

// A call that is not here is refused, also one that a later kernel has. Landlock decides which files can be opened.
static const unsigned int allowed[] = {
    // Memory.
    SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise,
    // Open files: none of these changes more of a file than what it was opened for.
    SYS_read, SYS_pread64, SYS_readv, SYS_write, SYS_writev, SYS_lseek, SYS_close, SYS_dup, SYS_dup3, SYS_fstat,
    SYS_getdents64,
    // Files by their names.
    SYS_newfstatat, SYS_faccessat, SYS_readlinkat, SYS_getcwd,
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
    // The process itself. Signals can be handled, not sent.
    SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_restart_syscall, SYS_getpid, SYS_getuid, SYS_geteuid,
    SYS_getgid, SYS_getegid, SYS_set_tid_address, SYS_set_robust_list, SYS_futex, SYS_exit, SYS_exit_group,
    // Time and chance.
    SYS_clock_gettime, SYS_clock_nanosleep, SYS_gettimeofday, SYS_nanosleep, SYS_getrandom,
#ifdef SYS_rseq
    SYS_rseq,
#endif
    // The older forms of the above, which aarch64 never had.
#ifdef SYS_access
    SYS_access, SYS_stat, SYS_lstat, SYS_readlink, SYS_dup2, SYS_time,
#endif
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
};

/// A call that is allowed if `mask` leaves `value` of the low half of one argument.
struct condition {
  unsigned int call, argument;
  uint32_t mask, value;
};

static const struct condition conditions[] = {
    // For reading only, and nothing new.
    {SYS_openat, 2, O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), O_RDONLY},
#ifdef SYS_open
    {SYS_open, 1, O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY), O_RDONLY},
#endif
    // Not F_SETOWN and F_SETSIG, by which the kernel sends signals to other processes.
    {SYS_fcntl, 1, ~0U, F_GETFD},
    {SYS_fcntl, 1, ~0U, F_SETFD},
    {SYS_fcntl, 1, ~0U, F_GETFL},
    {SYS_fcntl, 1, ~0U, F_DUPFD},
    {SYS_fcntl, 1, ~0U, F_DUPFD_CLOEXEC},
    // Whether it is a terminal.
    {SYS_ioctl, 1, ~0U, TCGETS},
    // Code comes from files that Landlock lets it read.
    {SYS_mmap, 2, PROT_EXEC, 0},
    {SYS_mmap, 3, MAP_ANONYMOUS, 0},
    {SYS_mprotect, 2, PROT_EXEC, 0},
};

enum {
  allowed_count = sizeof allowed / sizeof *allowed,
  condition_count = sizeof conditions / sizeof *conditions,
};

static uint32_t offset_of_argument(unsigned int index) {
  return (uint32_t)(offsetof(struct seccomp_data, args) + index * sizeof(uint64_t));
}

int piconet_confined_filter_calls(const char *path) {
  struct sock_filter code[16 + 2 * allowed_count + 6 * condition_count];
  unsigned int count = 0;
#define ADD(...) code[count++] = (struct sock_filter)__VA_ARGS__
#define LOAD(offset) ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (offset)))
#define SKIP_UNLESS(value, skipped) ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), 0, (skipped)))
#define RETURN(action) ADD(BPF_STMT(BPF_RET | BPF_K, (action)))
  // x86's 32-bit calls have numbers of their own. Those of x32 are beyond all that are compared below.
  LOAD(offsetof(struct seccomp_data, arch));
  ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PICONET_ARCHITECTURE, 1, 0));
  RETURN(SECCOMP_RET_KILL_PROCESS);
  LOAD(offsetof(struct seccomp_data, nr));
  for (unsigned int index = 0; index < allowed_count; index++) {
    SKIP_UNLESS(allowed[index], 1);
    RETURN(SECCOMP_RET_ALLOW);
  }
  for (unsigned int index = 0; index < condition_count; index++) {
    SKIP_UNLESS(conditions[index].call, 5);
    LOAD(offset_of_argument(conditions[index].argument));
    ADD(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, conditions[index].mask));
    SKIP_UNLESS(conditions[index].value, 1);
    RETURN(SECCOMP_RET_ALLOW);
    LOAD(offsetof(struct seccomp_data, nr));
  }
  // The program is started by this string of ours, whose address means nothing once it runs.
  SKIP_UNLESS(SYS_execve, 5);
  LOAD(offset_of_argument(0));
  SKIP_UNLESS((uint32_t)(uintptr_t)path, 3);
  LOAD(offset_of_argument(0) + sizeof(uint32_t));
  SKIP_UNLESS((uint32_t)((uint64_t)(uintptr_t)path >> 32), 1);
  RETURN(SECCOMP_RET_ALLOW);
  RETURN(SECCOMP_RET_ERRNO | EPERM);
#undef RETURN
#undef SKIP_UNLESS
#undef LOAD
#undef ADD
  struct sock_fprog program = {.len = (unsigned short)count, .filter = code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

#else

int piconet_confined_filter_calls(const char *path) {
  (void)path;
  errno = ENOSYS;
  return -1;
}

#endif
