#pragma once

// What Swift can't import of libbluetooth, sd-bus and the kernel's Bluetooth sockets: one header a topic.
#include "adapters.h"
#include "diagnosis.h"
#include "hci.h"
#include "sdp.h"
#include "sockets.h"
