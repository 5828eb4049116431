// close_range(2).
#define _GNU_SOURCE
#include "confinement.h"

#include <dirent.h>
#include <errno.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "landlock.h"

static bool has_one_thread(void) {
  DIR *threads = opendir("/proc/self/task");
  if (!threads) return false;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(threads));) count += entry->d_name[0] != '.';
  closedir(threads);
  return count == 1;
}

static bool limit(int resource, rlim_t value) {
  struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
  return setrlimit(resource, &limit) == 0;
}

/// Takes every right to files that this kernel knows. The attributes of later versions (ports, other processes) are not
/// in Debian 12's headers; seccomp leaves nothing of these anyway.
static bool leave_files(void) {
  int version = piconet_landlock_version();
  // Without Landlock there is still seccomp.
  if (version < 1) return true;
  int rules = piconet_landlock_new(piconet_landlock_write_rights(version) | piconet_landlock_read_rights());
  if (rules < 0) return false;
  bool is_done = piconet_landlock_restrict(rules) == 0;
  close(rules);
  return is_done;
}

static bool filter_calls(const int *more, size_t count) {
  scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (!filter) return false;
  const int always[] = {SCMP_SYS(exit), SCMP_SYS(exit_group), SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap)};
  bool is_done = true;
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    is_done &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, always[i], 0) == 0;
  for (size_t i = 0; i < count; i++) is_done &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, more[i], 0) == 0;
  is_done &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(read), 1, SCMP_A0_32(SCMP_CMP_EQ, STDIN_FILENO)) == 0;
  is_done &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(write), 1, SCMP_A0_32(SCMP_CMP_EQ, STDOUT_FILENO)) == 0;
  is_done &= seccomp_rule_add(
                 filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2_32(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                 SCMP_A3_32(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS)) == 0;
  is_done = is_done && seccomp_load(filter) == 0;
  seccomp_release(filter);
  return is_done;
}

const char *piconet_thumbnail_confine(struct piconet_thumbnail_limits limits, const int *more, size_t count) {
  if (!has_one_thread()) return "there is another thread, or no /proc to tell";
  if (clearenv() != 0) return "the environment";
  if (close_range(STDERR_FILENO, ~0u, 0) != 0) return "open descriptors";
  // Neither a core nor a debugger.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return "prctl";
  if (!leave_files()) return "Landlock";
  if (!limit(RLIMIT_CORE, 0) || !limit(RLIMIT_FSIZE, 0) || !limit(RLIMIT_NPROC, 0) || !limit(RLIMIT_NOFILE, 0) ||
      !limit(RLIMIT_MEMLOCK, 0) || !limit(RLIMIT_CPU, limits.seconds) || !limit(RLIMIT_AS, limits.memory))
    return "resource limits";
  if (!filter_calls(more, count)) return "seccomp";
  return NULL;
}
