#pragma once

#include <sys/types.h>

#include "confined.h"

// The steps of `piconet_confined_start`, in the child between fork(2) and execve(2): none of them allocates memory or
// takes a lock.

/// Gives the process a root directory of its own, with nothing in it but what the program may read and its own open
/// files at /proc/self/fd. Where the kernel or its administrator allows no such namespace, it changes nothing that the
/// program needs.
void piconet_confined_leave_root(const struct piconet_confined *program);

/// Refuses all system calls with EPERM but those of a program that only reads, computes and writes.
/// - path: the string that the one execve(2) that is allowed has to be given.
/// -1 with errno.
int piconet_confined_filter_calls(const char *path);
