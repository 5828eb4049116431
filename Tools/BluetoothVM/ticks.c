// Prints how many thousand ticks per second this host's time stamp counter makes; the guest has the same counter.
//
// The guest's kernel counts them while another emulated timer runs; on a busy host it is late in doing so, and its
// clock would then run several times too fast.

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

// Time and ticks of one moment: the closest of several readings, since we may be held up between the two.
static void look(int64_t *time, uint64_t *ticks)
{
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < 100; i++) {
        struct timespec now;
        uint64_t before = __rdtsc(), after;
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        after = __rdtsc();
        if (after - before >= closest)
            continue;
        closest = after - before;
        *ticks = before + closest / 2;
        *time = now.tv_sec * (int64_t)1000000000 + now.tv_nsec;
    }
}

int main(void)
{
    int64_t time[2] = { 0, 0 };
    uint64_t ticks[2] = { 0, 0 };

    look(&time[0], &ticks[0]);
    nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
    look(&time[1], &ticks[1]);
    printf("%.0f\n", (double)(ticks[1] - ticks[0]) * 1e6 / (double)(time[1] - time[0]));
    return 0;
}
