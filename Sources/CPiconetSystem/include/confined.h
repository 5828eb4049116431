#pragma once

#include <stdint.h>
#include <sys/types.h>

/// Another program, in a process of its own that may do no more than compute: it reads the files named here and its
/// standard input, and writes to descriptors that it is given, nothing else. Landlock keeps it from all other files.
/// seccomp leaves it the system calls that this takes, on a list. Where the kernel lets this user make a namespace,
/// other files are not even there: otherwise it can ask for the size and time of a file whose path it knows.
struct piconet_confined {
  /// Its path and its words, up to NULL.
  const char *const *words;
  /// Its whole environment, up to NULL.
  const char *const *variables;
  /// Directories and files that it may read and run, up to NULL. What is not there is passed over.
  const char *const *readable;
  /// Standard input, which it may also open anew; standard output; and standard error.
  int input, output, error;
  /// Bytes of address space, bytes that it may write to a file, and seconds of processor time.
  uint64_t memory, written, seconds;
};

/// Starts it. It is killed when the calling thread ends. -1 with errno: it could not be started or confined.
///
/// Between fork(2) and execve(2) the child makes only calls that a program with several threads may make there.
pid_t piconet_confined_start(const struct piconet_confined *program);

/// A descriptor that can be read as soon as the process has ended (pidfd_open(2)). -1 with errno.
int piconet_process_descriptor(pid_t process);

/// A new file without a name in this directory, with read and write access for its owner. -1 with errno.
int piconet_unnamed_file(const char *directory);
