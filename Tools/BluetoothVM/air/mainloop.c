// In btvirt's main loop: one event at a time.
//
// BlueZ's loop asks for up to ten and then calls what each belongs to. If the first of them removes another's (a
// command that ends an advertising set, and that set's timer), that one has been freed by the time its turn comes, and
// btvirt jumps to wherever the memory then points: on a busy host, where events coincide, this happens now and then.
// The remaining events come with the next calls, in turn.

#define _GNU_SOURCE
#include <sys/epoll.h>

int epoll_wait(int descriptor, struct epoll_event *events, int count, int timeout)
{
    return epoll_pwait(descriptor, events, count > 1 ? 1 : count, timeout, 0);
}
