#pragma once

#include "confinement.h"
#include "picture.h"
