#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Landlock (landlock(7)): a thread gives up rights to files, for itself and for what it starts later. All functions
/// return -1 with errno set where they fail.

/// The version of the kernel's interface, 1 or more. ENOSYS: there is none. EOPNOTSUPP: it is turned off.
int piconet_landlock_version(void);

/// All rights by which files are changed, made, removed or moved, of those that this version knows.
uint64_t piconet_landlock_write_rights(int version);

/// All rights by which files are read, run or listed; every version knows them.
uint64_t piconet_landlock_read_rights(void);

/// A set of rules, as a descriptor: without a rule it takes all of these rights away.
int piconet_landlock_new(uint64_t rights);

/// Leaves the rights to everything below a directory, or to one file, for which only some of them exist.
int piconet_landlock_allow(int rules, uint64_t rights, const char *path, bool is_directory);

/// Puts the rules into force for the calling thread and for all that it starts from now on, for good; programs that
/// they run gain no privileges (PR_SET_NO_NEW_PRIVS).
int piconet_landlock_restrict(int rules);
