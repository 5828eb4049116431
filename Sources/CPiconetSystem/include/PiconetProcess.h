#ifndef PICONET_PROCESS_H
#define PICONET_PROCESS_H

/// Keeps the calling thread, and threads that it starts later, on one processor. 0, or the error number.
int piconet_pin_to_processor(int processor);

#endif
