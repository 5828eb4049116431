#pragma once

#include "PiconetErrors.h"
#include "PiconetEventLoop.h"
#include "PiconetProcess.h"
#include "PiconetSockets.h"
#include "files.h"
#include "multicast.h"
#include "terminal.h"
