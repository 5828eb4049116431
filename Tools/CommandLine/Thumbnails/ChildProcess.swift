import Glibc

/// Another program that gets bytes and gives bytes, and is ended when it has, or when its time is over. Its environment
/// is empty, and it sees nothing of this terminal.
struct ChildProcess: Sendable {
  /// What it reads.
  enum Input: Sendable {
    case bytes([UInt8])
    /// A descriptor, which stays open here.
    case descriptor(Int32)
  }

  let path: String
  let arguments: [String]
  /// Called with its process id once it runs; for tests.
  var began: @Sendable (pid_t) -> Void = { _ in }

  /// Runs it. Blocks the calling thread, for not much longer than `time`.
  /// - Parameters:
  ///   - limit: the most bytes of output; more is a failure.
  ///   - length: returns the length of all output, judging from its beginning; nil: not known yet. Nothing more is
  ///     waited for then.
  /// - Returns: nil if it can't be started, takes too long, or writes too much.
  func output(
    for input: Input, atMost limit: Int, within time: Duration, length: ([UInt8]) -> Int? = { _ in nil }
  ) -> [UInt8]? {
    let end = ContinuousClock.now + time
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard awaitingDescriptor({ socketpair(AF_UNIX, kind, 0, &ends) }) == 0 else { return nil }
    let ours = ends[0]
    defer { close(ours) }
    let source: Int32 = if case .descriptor(let file) = input { file } else { ends[1] }
    let child = start(reading: source, writing: ends[1])
    close(ends[1])
    guard let child else { return nil }
    defer { Self.finish(child) }
    began(child)
    var toSend: ArraySlice<UInt8> = if case .bytes(let bytes) = input { bytes[...] } else { [] }
    if toSend.isEmpty { shutdown(ours, Int32(SHUT_WR)) }
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let left = end - .now
      guard left > .zero else { return nil }
      let wanted = POLLIN | (toSend.isEmpty ? 0 : POLLOUT)
      var entry = pollfd(fd: ours, events: Int16(wanted), revents: 0)
      let ready = poll(&entry, 1, Int32(clamping: Int64(left / .milliseconds(1)) + 1))
      if ready < 0, errno != EINTR { return nil }
      guard ready > 0 else { continue }
      if entry.revents & Int16(POLLOUT) != 0, !toSend.isEmpty {
        let sent = toSend.withUnsafeBytes { send(ours, $0.baseAddress, $0.count, Self.noWait) }
        // A program that reads no further may still have written enough.
        if sent < 0, errno != EINTR, errno != EAGAIN { toSend = [] }
        toSend = toSend.dropFirst(max(0, sent))
        if toSend.isEmpty { shutdown(ours, Int32(SHUT_WR)) }
      }
      guard entry.revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 else { continue }
      let count = recv(ours, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      // A program that ends with input unread resets the connection, behind its output.
      if count <= 0 { return length(received).map { $0 == received.count } ?? true ? received : nil }
      received += buffer.prefix(count)
      if received.count > limit { return nil }
      if let whole = length(received), received.count >= whole { return received.count == whole ? received : nil }
    }
  }

  private static let noWait = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)

  private func start(reading input: Int32, writing output: Int32) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // This program waits for its signals on one thread, and ignores some; another one is not to know.
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let words = ([path] + arguments).map { strdup($0) }
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    guard posix_spawn(&child, path, &actions, &attributes, words + [nil], [nil]) == 0 else { return nil }
    return child
  }

  /// It has said what it has to say.
  private static func finish(_ child: pid_t) {
    kill(child, SIGKILL)
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
  }
}
