import Glibc

/// Returns whether no person is at a terminal any more: its window was closed, or its line hung up.
func isHungUp(_ descriptor: Int32) -> Bool {
  var entry = pollfd(fd: descriptor, events: 0, revents: 0)
  return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLHUP) != 0
}
