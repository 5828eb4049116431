#pragma once

/// Keeps the calling thread, and threads that it starts later, on one processor. 0, or the error number.
int piconet_pin_to_processor(int processor);

/// 1 if the process ignores the signal, as under nohup(1); 0 if not, or if there is no such signal.
int piconet_signal_is_ignored(int number);
