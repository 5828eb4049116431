#include "CPiconetSystem.h"
