#ifndef CPICONET_SYSTEM_H
#define CPICONET_SYSTEM_H
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include "multicast.h"
#endif
