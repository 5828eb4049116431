#pragma once

#include <stdint.h>

/* The size of the terminal behind fd (tty_ioctl(4), TIOCGWINSZ). 0, or -1 with errno. */
int piconet_terminal_size(int fd, uint16_t *columns, uint16_t *rows);

/* Makes the terminal behind fd deliver each key at once, without echo and without signals from keys, and hides the cursor
   by writing to output_fd. Until piconet_terminal_restore the former state is restored too by exit(3) and by any signal
   that ends the process; the former handler of that signal then has its turn. One terminal at a time: a second call fails
   with EBUSY. 0, or -1 with errno. */
int piconet_terminal_raw(int fd, int output_fd);

/* Back to the former state; does nothing if there is none. Safe in a signal handler. */
void piconet_terminal_restore(void);
