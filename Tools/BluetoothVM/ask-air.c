// Asks the emulated air for something and prints its answer: ask-air SOCKET WORD...
// Exit status: 0 done, 1 refused or no answer, 2 usage.

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

int main(int count, char **arguments)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    struct sockaddr_un own = { .sun_family = AF_UNIX };
    char request[256] = "", answer[65536];

    if (count < 3 || strlen(arguments[1]) >= sizeof to.sun_path)
        return 2;
    strcpy(to.sun_path, arguments[1]);
    for (int i = 2; i < count; i++) {
        if (strlen(request) + strlen(arguments[i]) + 2 > sizeof request)
            return 2;
        if (i > 2)
            strcat(request, " ");
        strcat(request, arguments[i]);
    }

    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct timeval limit = { .tv_sec = 5 };
    // An empty name: the kernel gives us an abstract one to be answered at.
    if (descriptor < 0 || bind(descriptor, (struct sockaddr *)&own, sizeof own.sun_family) < 0
        || setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0
        || connect(descriptor, (struct sockaddr *)&to, sizeof to) < 0
        || send(descriptor, request, strlen(request), 0) < 0) {
        fprintf(stderr, "fault: %s: %s\n", arguments[1], strerror(errno));
        return 1;
    }
    ssize_t length = recv(descriptor, answer, sizeof answer - 1, 0);
    if (length < 0) {
        fprintf(stderr, "fault: no answer: %s\n", strerror(errno));
        return 1;
    }
    answer[length] = 0;
    if (strncmp(answer, "error", 5) == 0) {
        fprintf(stderr, "fault: %s\n", answer);
        return 1;
    }
    if (strcmp(answer, "ok") != 0)
        fputs(answer, stdout);
    return 0;
}
