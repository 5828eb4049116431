#define _GNU_SOURCE
#include "task-pool.h"

#include "PiconetEventLoop.h"
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SWIFT_CALL __attribute__((swiftcall))

// What swift/ExecutorImpl.h says of jobs.

/// The beginning of a job. `scheduler` is for whoever has it queued.
struct job {
  const void *metadata;
  uintptr_t references;
  struct job *scheduler[2];
};

/// A serial executor; zeros: none in particular.
struct executor {
  void *identity;
  uintptr_t implementation;
};

extern SWIFT_CALL void swift_job_run(struct job *job, struct executor executor);

enum {
  LARGEST = 64,
  IDLE_SECONDS = 5,
};
static const int64_t SECOND = 1000000000;
static const int64_t STALL = 50000000;
static const int64_t NEVER = INT64_MAX;

/// A job that sleeps.
struct sleeper {
  int64_t deadline;
  /// Of two with one deadline the earlier comes first.
  uint64_t number;
  struct job *job;
};

/// A thread without a job, on its own stack.
struct idler {
  pthread_cond_t woken;
  bool is_woken;
  struct idler *next;
};

/// All of it but `timer` and `width` is behind `lock`.
static struct {
  pthread_mutex_t lock;
  int timer;
  int width;

  /// Jobs that can run, the first to run first.
  struct job *first, *last;
  int waiting;
  /// How many jobs have begun.
  uint64_t begun;
  int threads;
  /// Threads that were woken or started and have not looked for a job since.
  int coming;
  /// The last to have had a job is the first to get one: so those that are not needed are idle for long, and end.
  struct idler *idle;

  /// A binary heap, the next one first.
  struct sleeper *sleepers;
  size_t sleeping, room;
  uint64_t number;
  /// For when the timer is set.
  int64_t armed;
  /// When it is looked whether any job has begun since; NEVER: no job waits.
  int64_t stall;
  uint64_t begun_before;
} pool = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .timer = -1, .armed = INT64_MAX, .stall = INT64_MAX};

/// Nanoseconds of the continuous clock.
static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

// MARK: Sleepers

static bool is_before(const struct sleeper *one, const struct sleeper *other) {
  return one->deadline < other->deadline || (one->deadline == other->deadline && one->number < other->number);
}

static void push_sleeper(int64_t deadline, struct job *job) {
  if (pool.sleeping == pool.room) {
    size_t room = pool.room > 0 ? 2 * pool.room : 64;
    struct sleeper *grown = reallocarray(pool.sleepers, room, sizeof *grown);
    // As the runtime ends where it has no memory for a task.
    if (grown == NULL) abort();
    pool.sleepers = grown;
    pool.room = room;
  }
  struct sleeper added = {deadline, pool.number++, job};
  size_t place = pool.sleeping++;
  while (place > 0 && is_before(&added, &pool.sleepers[(place - 1) / 2])) {
    pool.sleepers[place] = pool.sleepers[(place - 1) / 2];
    place = (place - 1) / 2;
  }
  pool.sleepers[place] = added;
}

static struct job *pop_sleeper(void) {
  struct job *job = pool.sleepers[0].job;
  struct sleeper moved = pool.sleepers[--pool.sleeping];
  size_t place = 0;
  for (;;) {
    size_t child = 2 * place + 1;
    if (child >= pool.sleeping) break;
    if (child + 1 < pool.sleeping && is_before(&pool.sleepers[child + 1], &pool.sleepers[child])) child++;
    if (!is_before(&pool.sleepers[child], &moved)) break;
    pool.sleepers[place] = pool.sleepers[child];
    place = child;
  }
  pool.sleepers[place] = moved;
  return job;
}

/// Sets the timer for what comes next.
static void arm(void) {
  int64_t next = pool.sleeping > 0 ? pool.sleepers[0].deadline : NEVER;
  if (pool.stall < next) next = pool.stall;
  if (next == pool.armed) return;
  // 0 would stop it.
  struct itimerspec time = {0};
  if (next != NEVER) {
    int64_t at = next > 0 ? next : 1;
    time.it_value.tv_sec = at / SECOND;
    time.it_value.tv_nsec = at % SECOND;
  }
  timerfd_settime(pool.timer, TFD_TIMER_ABSTIME, &time, NULL);
  pool.armed = next;
}

// MARK: Threads

static void *run_jobs(void *unused);

static bool start(const char *name, void *(*body)(void *)) {
  pthread_t thread;
  return piconet_thread_start(&thread, name, body, NULL) == 0 && pthread_detach(thread) == 0;
}

static bool start_worker(void) {
  if (!start("piconet-task", run_jobs)) return false;
  pool.threads++;
  pool.coming++;
  return true;
}

static void append(struct job *job) {
  job->scheduler[0] = NULL;
  if (pool.last != NULL) pool.last->scheduler[0] = job; else pool.first = job;
  pool.last = job;
  pool.waiting++;
}

/// Finds a thread for the last of the jobs that wait.
static void provide(void) {
  if (pool.waiting <= pool.coming) return;
  struct idler *idler = pool.idle;
  if (idler != NULL) {
    pool.idle = idler->next;
    idler->is_woken = true;
    pool.coming++;
    pthread_cond_signal(&idler->woken);
    return;
  }
  if (pool.threads < pool.width && start_worker()) return;
  if (pool.stall == NEVER && pool.threads < LARGEST) {
    pool.begun_before = pool.begun;
    pool.stall = now() + STALL;
    arm();
  }
}

/// Waits for a job that another thread has not taken.
/// Returns false if none has come for long.
static bool wait_for_job(void) {
  struct idler own = {.next = pool.idle};
  pool.idle = &own;
  pthread_cond_init(&own.woken, NULL);
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  end.tv_sec += IDLE_SECONDS;
  int failure = 0;
  while (!own.is_woken && failure != ETIMEDOUT) {
    failure = pthread_cond_clockwait(&own.woken, &pool.lock, CLOCK_MONOTONIC, &end);
  }
  if (own.is_woken) {
    pool.coming--;
  } else {
    struct idler **place = &pool.idle;
    while (*place != &own) place = &(*place)->next;
    *place = own.next;
  }
  pthread_cond_destroy(&own.woken);
  return own.is_woken;
}

static void *run_jobs(void *unused) {
  (void)unused;
  struct executor none = {0};
  pthread_mutex_lock(&pool.lock);
  pool.coming--;
  do {
    for (struct job *job; (job = pool.first) != NULL;) {
      pool.first = job->scheduler[0];
      if (pool.first == NULL) pool.last = NULL;
      pool.waiting--;
      pool.begun++;
      pthread_mutex_unlock(&pool.lock);
      swift_job_run(job, none);
      pthread_mutex_lock(&pool.lock);
    }
  } while (wait_for_job());
  pool.threads--;
  pthread_mutex_unlock(&pool.lock);
  return NULL;
}

static void *keep_time(void *unused) {
  (void)unused;
  for (;;) {
    uint64_t count;
    // What is set anew while this waits counts at once.
    if (read(pool.timer, &count, sizeof count) < 0 && errno != EINTR) return NULL;
    pthread_mutex_lock(&pool.lock);
    pool.armed = NEVER;
    int64_t time = now();
    while (pool.sleeping > 0 && pool.sleepers[0].deadline <= time) {
      append(pop_sleeper());
      provide();
    }
    if (pool.stall <= time) {
      pool.stall = NEVER;
      // All are blocked, or busy for long.
      if (pool.first != NULL && pool.begun == pool.begun_before && pool.threads < LARGEST) start_worker();
      if (pool.first != NULL) provide();
    }
    arm();
    pthread_mutex_unlock(&pool.lock);
  }
}

// MARK: The interface

void piconet_task_pool_run(void *job) {
  pthread_mutex_lock(&pool.lock);
  append(job);
  provide();
  pthread_mutex_unlock(&pool.lock);
}

void piconet_task_pool_run_after(int64_t nanoseconds, void *job) {
  int64_t deadline;
  if (__builtin_add_overflow(now(), nanoseconds > 0 ? nanoseconds : 0, &deadline)) deadline = NEVER - 1;
  pthread_mutex_lock(&pool.lock);
  push_sleeper(deadline, job);
  arm();
  pthread_mutex_unlock(&pool.lock);
}

bool piconet_task_pool_start(void) {
  if (pool.timer >= 0) return true;
  pool.timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
  if (pool.timer < 0) return false;
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  pool.width = processors < 2 ? 2 : processors > LARGEST ? LARGEST : (int)processors;
  if (start("piconet-time", keep_time)) return true;
  close(pool.timer);
  pool.timer = -1;
  return false;
}
