#ifndef PICONET_EVENT_LOOP_H
#define PICONET_EVENT_LOOP_H

#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// Waits for events of `epoll`. `nanoseconds` below zero: for ever. Never returns early for the timeout: where the
/// kernel has no epoll_pwait2, the timeout is rounded up to whole milliseconds.
int piconet_epoll_wait(int epoll, struct epoll_event *events, int capacity, int64_t nanoseconds);

/// Starts a thread with a name (at most 15 bytes are kept). All signals are blocked in it except those that the thread
/// itself raises (SIGSEGV and the like), so that a program's signal handlers run on the program's own threads.
/// Returns 0 or an error number.
int piconet_thread_start(pthread_t *thread, const char *name, void *(*body)(void *), void *argument);

#endif
