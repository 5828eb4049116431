#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Whether to repeat a call that has failed with this error since no descriptor was free, in this process (EMFILE) or
/// in the system (ENFILE): others close theirs. It blocks for 10 ms before it says yes, and says no after 5 s in all.
/// - waited: milliseconds so far; 0 before the first call.
bool piconet_awaits_descriptor(int error, int *waited);

/// How many descriptors the process may have open at once (RLIMIT_NOFILE).
uint64_t piconet_descriptor_limit(void);

/// Raises it as far as the process may. Only for programs: a library leaves the limits of its process alone.
void piconet_raise_descriptor_limit(void);

/// Prepares a process whose address space is limited (RLIMIT_AS) for threads that take little of it: stacks of 1 MiB,
/// and one arena of memory for all, in place of 64 MiB for each. For programs; call it before there is any thread.
/// - Returns: bytes that are left; UINT64_MAX without a limit.
uint64_t piconet_fit_address_space(void);

/// RLIMIT_AS in bytes; UINT64_MAX: none.
uint64_t piconet_address_space_limit(void);
