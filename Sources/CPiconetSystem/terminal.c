#include "terminal.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

int piconet_terminal_size(int fd, uint16_t *columns, uint16_t *rows) {
  struct winsize size;
  if (ioctl(fd, TIOCGWINSZ, &size) != 0) return -1;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

/* In C, because a handler may touch nothing that is initialized lazily, as Swift globals are. */
static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT, SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE};
enum { ending_signal_count = sizeof ending_signals / sizeof *ending_signals };

static struct sigaction former_actions[ending_signal_count];
static struct termios former_state;
static int input, output, has_other_screen;
static volatile int claimed, raw, exit_handler_set;

static void say(const char *sequence) {
  ssize_t ignored = write(output, sequence, strlen(sequence));
  (void)ignored;
}

void piconet_terminal_restore(void) {
  /* Only one of the thread, the handler and the exit handler gets to restore. */
  if (!__atomic_exchange_n(&raw, 0, __ATOMIC_ACQ_REL)) return;
  int saved_errno = errno;
  tcsetattr(input, TCSANOW, &former_state);
  say("\033[?7h\033[?25h");
  if (has_other_screen) say("\033[?1049l");
  for (int i = 0; i < ending_signal_count; i++) sigaction(ending_signals[i], &former_actions[i], NULL);
  __atomic_store_n(&claimed, 0, __ATOMIC_RELEASE);
  errno = saved_errno;
}

/* The signal is delivered as soon as this handler returns, to its previous action. That is put back here as well, in
   case another thread has restored the terminal but not come to this signal yet. */
static void restore_and_raise(int signal_number) {
  int saved_errno = errno;
  piconet_terminal_restore();
  for (int i = 0; i < ending_signal_count; i++) {
    if (ending_signals[i] == signal_number) sigaction(signal_number, &former_actions[i], NULL);
  }
  raise(signal_number);
  errno = saved_errno;
}

int piconet_terminal_raw(int fd, int output_fd, int other_screen) {
  if (__atomic_exchange_n(&claimed, 1, __ATOMIC_ACQ_REL)) {
    errno = EBUSY;
    return -1;
  }
  struct termios state;
  if (tcgetattr(fd, &former_state) != 0) goto failed;
  if (!exit_handler_set && atexit(piconet_terminal_restore) == 0) exit_handler_set = 1;

  input = fd;
  output = output_fd;
  has_other_screen = other_screen;
  for (int i = 0; i < ending_signal_count; i++) sigaction(ending_signals[i], NULL, &former_actions[i]);
  /* From here on a restore is complete, whenever it comes. */
  __atomic_store_n(&raw, 1, __ATOMIC_RELEASE);
  struct sigaction action = {.sa_handler = restore_and_raise};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < ending_signal_count; i++) {
    /* nohup(1) and the like: an ignored signal stays ignored. */
    if (former_actions[i].sa_handler != SIG_IGN) sigaction(ending_signals[i], &action, NULL);
  }

  state = former_state;
  state.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IGNCR | IXON);
  state.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
  state.c_cc[VMIN] = 1;
  state.c_cc[VTIME] = 0;
  /* Output stays as it was: newlines still return the carriage. */
  if (tcsetattr(fd, TCSANOW, &state) != 0) {
    piconet_terminal_restore();
    return -1;
  }
  if (other_screen) say("\033[?1049h");
  say("\033[?7l\033[?25l");
  return 0;

failed:
  __atomic_store_n(&claimed, 0, __ATOMIC_RELEASE);
  return -1;
}
