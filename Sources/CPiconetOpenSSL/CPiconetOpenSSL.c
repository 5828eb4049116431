#include "CPiconetOpenSSL.h"
