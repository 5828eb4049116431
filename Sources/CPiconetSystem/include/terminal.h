#pragma once

#include <stdint.h>

/* The size of the terminal behind fd (tty_ioctl(4), TIOCGWINSZ). 0, or -1 with errno. */
int piconet_terminal_size(int fd, uint16_t *columns, uint16_t *rows);

/* Makes the terminal behind fd deliver each key at once, without echo and without signals from keys. By writing to
   output_fd it hides the cursor, cuts lines that are too long instead of wrapping them, and, if other_screen is not 0,
   shows the alternate screen (xterm's 1049). Until piconet_terminal_restore, the former state is also restored by
   exit(3) and by any signal that ends the process; then the signal's former handler runs. One terminal at a time: a
   second call fails with EBUSY. 0, or -1 with errno. */
int piconet_terminal_raw(int fd, int output_fd, int other_screen);

/* Restores the previous state; does nothing if there is none. Safe in a signal handler. */
void piconet_terminal_restore(void);
