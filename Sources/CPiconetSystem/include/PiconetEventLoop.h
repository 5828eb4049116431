#pragma once

#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// A timerfd on CLOCK_MONOTONIC, non-blocking; below zero on failure, with errno.
int piconet_alarm_new(void);

/// Makes it readable once this many nanoseconds (at least 1) have passed, never earlier.
void piconet_alarm_set(int alarm, int64_t nanoseconds);

/// Starts a thread with a name (at most 15 bytes are kept). All signals are blocked in it except those that the thread
/// itself raises (SIGSEGV and the like), so that a program's signal handlers run on the program's own threads.
/// Returns 0 or an error number.
int piconet_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *argument);
