#pragma once

/// The name of an error number, such as "ECONNREFUSED". Never null; safe on every thread.
const char *piconet_error_name(int number);

/// What an error number means, in English. Never null; safe on every thread.
const char *piconet_error_description(int number);
