#ifndef CPICONET_SYSTEM_H
#define CPICONET_SYSTEM_H

#include "PiconetEventLoop.h"
#include "PiconetSockets.h"
#include "PiconetErrors.h"

#endif
