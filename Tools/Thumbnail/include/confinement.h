#pragma once

#include <stddef.h>
#include <stdint.h>

/// What a process may still use once it is confined.
struct piconet_thumbnail_limits {
  /// Bytes of address space, with those that it has already.
  uint64_t memory;
  /// Seconds of a processor, with those that it has used already.
  unsigned seconds;
};

/// Gives up all rights, for good and for every thread to come: no file, socket, process or signal; only reading
/// descriptor 0, writing descriptor 1, memory that is not executable, and the end. All other descriptors are closed and
/// the environment is emptied. Any other system call fails with EPERM (seccomp(2)); files are out of reach by
/// Landlock as well, where the kernel has it. Refuses where there is another thread, which would keep its rights.
///
/// - Parameters:
///   - more: further system calls that stay, for a test; NULL: none.
///   - count: how many.
/// - Returns: NULL, or which step has failed.
const char *piconet_thumbnail_confine(struct piconet_thumbnail_limits limits, const int *more, size_t count);
