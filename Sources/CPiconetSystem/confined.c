// O_PATH, O_TMPFILE, dup3, pipe2.
#define _GNU_SOURCE
#include "confined.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "landlock.h"

#if defined(__x86_64__)
#define PICONET_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define PICONET_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef PICONET_ARCHITECTURE

// What a program that only reads its input never needs. Landlock has no say in most of it.
static const unsigned int refused[] = {
    // The network, and other programs.
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_sendto, SYS_sendmsg, SYS_sendmmsg,
    // A ring makes calls that no filter sees.
    SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register,
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kill, SYS_tkill, SYS_rt_sigqueueinfo,
    SYS_pidfd_send_signal, SYS_pidfd_getfd, SYS_pidfd_open, SYS_prlimit64, SYS_setpriority, SYS_sched_setaffinity,
    SYS_clone3,
#ifdef SYS_fork
    SYS_fork, SYS_vfork,
#endif
    SYS_shmget, SYS_shmat, SYS_msgget, SYS_semget, SYS_mq_open,
    // Files, by their names.
    SYS_fchmodat, SYS_fchownat, SYS_utimensat, SYS_truncate, SYS_setxattr, SYS_lsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_mknodat, SYS_mkdirat, SYS_symlinkat, SYS_linkat, SYS_unlinkat, SYS_renameat2,
#ifdef SYS_chmod
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_mknod, SYS_mkdir, SYS_symlink, SYS_link,
    SYS_unlink, SYS_rmdir, SYS_rename,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
    SYS_inotify_init1, SYS_fanotify_init, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns,
    SYS_open_by_handle_at, SYS_name_to_handle_at,
    // The kernel's own.
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_init_module,
    SYS_finit_module, SYS_kexec_load, SYS_personality, SYS_reboot, SYS_swapon, SYS_sethostname, SYS_settimeofday,
    SYS_clock_settime, SYS_adjtimex, SYS_quotactl, SYS_acct, SYS_syslog,
};

enum { refused_count = sizeof refused / sizeof *refused };

// Refused calls fail with EPERM. clone(2) stays for threads, which share their memory; a process does not.
static int filter_calls(void) {
  struct sock_filter code[12 + refused_count];
  unsigned int count = 0;
#define ADD(...) code[count++] = (struct sock_filter)__VA_ARGS__
  ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)));
  ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PICONET_ARCHITECTURE, 1, 0));
  ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
  // The numbers of x86's other interface.
  ADD(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, refused_count + 2, 0));
  for (unsigned int index = 0; index < refused_count; index++) {
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[index], refused_count - index + 1, 0));
  }
  ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0));
  ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)));
  ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x00010000 /* CLONE_THREAD */, 0, 1));
  ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
#undef ADD
  struct sock_fprog program = {.len = (unsigned short)count, .filter = code};
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

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

static int limit(int what, uint64_t value) {
  struct rlimit limits = {.rlim_cur = value, .rlim_max = value};
  return setrlimit(what, &limits);
}

// In the child. Returns only if something fails, with errno, which `told` can be told: it changes on the way.
static void become(const struct piconet_confined *program, int rules, int *told, pid_t parent) {
  // Out of the terminal's reach, and it out of ours.
  setsid();
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != parent) return;
  prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  // Above those that they are put into.
  int descriptors[5] = {program->input, program->output, program->error, *told, rules};
  for (int index = 0; index < 5; index++) {
    descriptors[index] = fcntl(descriptors[index], F_DUPFD_CLOEXEC, 16);
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
      limit(RLIMIT_CPU, program->seconds) != 0 || limit(RLIMIT_CORE, 0) != 0 || limit(RLIMIT_NOFILE, 64) != 0) {
    return;
  }
  if (piconet_landlock_restrict(4) != 0 || filter_calls() != 0) return;
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

#else

pid_t piconet_confined_start(const struct piconet_confined *program) {
  (void)program;
  errno = ENOSYS;
  return -1;
}

#endif

int piconet_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int piconet_unnamed_file(const char *directory) {
  return open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
}
