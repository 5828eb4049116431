#pragma once

#include "input.h"
#include "picture.h"

/// A PNG, at most `side` pixels each way.
const char *png_read(struct input *input, unsigned side, struct piconet_picture *picture);
