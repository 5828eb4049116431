#ifndef PICONET_TASK_POOL_H
#define PICONET_TASK_POOL_H

#include <stdbool.h>
#include <stdint.h>

/// A pool of threads for the tasks of a process, in place of libdispatch's.
///
/// libdispatch looks once a second how many threads of its pool run, for as long as the process lives and from its
/// first job on (`_dispatch_workq_monitor_pools` in its event_workqueue.c), and has no switch for that: a program that
/// only waits is woken 86,400 times a day. This pool wakes for jobs and for sleeping tasks, and not otherwise.
///
/// One thread keeps the time. For jobs there are as many as there are processors, two at least; each begins when it is
/// needed and ends after five seconds without a job. While jobs wait and none has begun for 50 ms, which is so where
/// all threads are blocked on a disk or a pipe, another thread is added, up to 64. Jobs begin in the order in which
/// they came; their priorities are not looked at.

/// Call it once, before the first job.
/// Returns false if the system has no thread for it: then there is no pool.
bool piconet_task_pool_start(void);

/// Runs a job of Swift's runtime (`UnownedJob`), which belongs to the pool from now on. Any thread may call it.
void piconet_task_pool_run(void *job);

/// The same after some time: never earlier, and counting the time in which the machine is suspended (CLOCK_BOOTTIME,
/// which is Swift's continuous clock on Linux).
void piconet_task_pool_run_after(int64_t nanoseconds, void *job);

#endif
