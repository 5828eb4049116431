import CPiconetSystem
import Glibc
import PiconetTerminal
import Synchronization

/// Another program in a separate process that may only compute: it reads its own files and one input, and writes to the
/// given output. Landlock keeps it from all other files, and seccomp allows it only the system calls on a list
/// (confined-calls.c). It ends with this program, however that ends.
struct ConfinedProcess: Sendable {
  enum Outcome: Hashable, Sendable {
    /// - output: empty if it went to a file.
    /// - errors: the beginning of its standard error.
    case ended(status: Int32, output: [UInt8], errors: [UInt8])
    /// It could not be started, or confined, with the reason.
    case failed(String)
    case tookTooLong
    case wroteTooMuch
    /// By a signal that none of our limits sends.
    case died(signal: Int32)
    case cancelled
  }

  enum Output: Sendable {
    /// What it writes is the outcome's, up to so many bytes.
    case collected(atMost: Int)
    /// A descriptor that is open for writing.
    case file(Int32)
  }

  /// The path of the program, and its arguments.
  let words: [String]
  /// Directories and files that it may read and run.
  let readable: [String]
  /// Its whole environment, as `NAME=value`.
  let variables: [String]
  /// It may take as long as this, and no more processor time.
  let time: Duration
  /// Bytes that it may write to a file.
  var writtenLimit: UInt64 = 0
  /// Bytes of address space.
  var memoryLimit: UInt64 = 1 << 30

  /// Bytes of standard error that are kept.
  static let errorLimit = 4_096

  /// Cancelling the task kills it.
  /// - Parameter input: a descriptor of a regular file, from its beginning.
  func run(input: Int32, output: Output) async -> Outcome {
    if case .missing(let reason) = LandlockSupport.current { return .failed(reason) }
    let life = Life()
    let outcome = await withTaskCancellationHandler {
      await onItsOwnThread { runBlocking(input, output, life) }
    } onCancel: {
      life.end()
    }
    return outcome ?? .failed(ErrorNumber.text(EAGAIN))
  }

  /// The process as long as it may be killed: once it was waited for, its number may belong to another process.
  private final class Life: Sendable {
    private struct State {
      var process: pid_t?
      var isOver = false
    }

    private let state = Mutex(State())

    var isOver: Bool { state.withLock { $0.isOver } }

    func began(_ process: pid_t) {
      state.withLock { state in
        state.process = process
        if state.isOver { kill(process, SIGKILL) }
      }
    }

    func end() {
      state.withLock { state in
        state.isOver = true
        if let process = state.process { kill(process, SIGKILL) }
      }
    }

    /// Waits until it has ended.
    /// - Returns: as waitpid(2) gives it.
    func wait(_ process: pid_t) -> Int32 {
      state.withLock { state in
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        state.process = nil
        return status
      }
    }
  }

  private struct Pipe {
    let read: Int32
    let write: Int32

    init?() {
      var ends: [Int32] = [-1, -1]
      guard awaitingDescriptor({ pipe(&ends) }) == 0 else { return nil }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
      (read, write) = (ends[0], ends[1])
    }
  }

  private func runBlocking(_ input: Int32, _ output: Output, _ life: Life) -> Outcome {
    guard let errors = Pipe() else { return .failed(ErrorNumber.text(errno)) }
    defer { close(errors.read) }
    var results: Pipe?
    var limit = 0
    let target: Int32
    switch output {
    case .file(let descriptor): target = descriptor
    case .collected(let most):
      guard let pipe = Pipe() else {
        close(errors.write)
        return .failed(ErrorNumber.text(errno))
      }
      (results, limit, target) = (pipe, most, pipe.write)
    }
    defer { if let results { close(results.read) } }
    let process = awaitingDescriptor { start(input, target, errors.write) }
    let failure = errno
    close(errors.write)
    if let results { close(results.write) }
    guard process > 0 else { return .failed(ErrorNumber.text(failure)) }
    life.began(process)
    return follow(process, life, results: results?.read, atMost: limit, errors: errors.read)
  }

  private func start(_ input: Int32, _ output: Int32, _ errors: Int32) -> pid_t {
    let lists = [words, variables, readable].map { $0.map { strdup($0) } + [nil] }
    defer { for text in lists.joined() { free(text) } }
    let constant = lists.map { $0.map { UnsafePointer($0) } }
    return constant[0].withUnsafeBufferPointer { words in
      constant[1].withUnsafeBufferPointer { variables in
        constant[2].withUnsafeBufferPointer { readable in
          var program = piconet_confined()
          program.words = words.baseAddress
          program.variables = variables.baseAddress
          program.readable = readable.baseAddress
          (program.input, program.output, program.error) = (input, output, errors)
          (program.memory, program.written) = (memoryLimit, writtenLimit)
          program.seconds = UInt64(max(1, time.components.seconds))
          return piconet_confined_start(&program)
        }
      }
    }
  }

  /// Follows the process until it has ended, by itself or by force.
  private func follow(
    _ process: pid_t, _ life: Life, results: Int32?, atMost limit: Int, errors: Int32
  ) -> Outcome {
    let watch = awaitingDescriptor { piconet_process_descriptor(process) }
    defer { if watch >= 0 { close(watch) } }
    let end = ContinuousClock.now + time
    var (output, errorText): ([UInt8], [UInt8]) = ([], [])
    var (isLate, isTooMuch) = (watch < 0, false)
    if isLate { life.end() }
    var hasEnded = isLate
    while !hasEnded {
      var entries = [
        pollfd(fd: watch, events: Int16(POLLIN), revents: 0), pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
        pollfd(fd: results ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      let left = max(.zero, end - .now) / .milliseconds(1)
      // It may write all the time.
      if left == 0, !isLate {
        isLate = true
        kill(process, SIGKILL)
      }
      let count = poll(&entries, nfds_t(entries.count), Int32(clamping: Int64(left) + 1))
      if count < 0, errno == EINTR { continue }
      if count <= 0 {
        // It is gone at once then.
        if isLate { break }
        isLate = true
        kill(process, SIGKILL)
        continue
      }
      hasEnded = entries[0].revents != 0
      Self.read(errors, into: &errorText, atMost: Self.errorLimit)
      if let results, !Self.read(results, into: &output, atMost: limit), !isTooMuch {
        isTooMuch = true
        kill(process, SIGKILL)
      }
      // A pipe whose other end is closed would wake poll(2) again and again.
      if !hasEnded, entries[1].revents & Int16(POLLHUP) != 0 || entries[2].revents & Int16(POLLHUP) != 0 {
        var entry = pollfd(fd: watch, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, 10)
      }
    }
    let status = life.wait(process)
    Self.read(errors, into: &errorText, atMost: Self.errorLimit)
    if let results, !Self.read(results, into: &output, atMost: limit) { isTooMuch = true }
    if life.isOver, !isLate { return .cancelled }
    if isTooMuch { return .wroteTooMuch }
    if isLate { return .tookTooLong }
    switch status & 0x7F {
    case 0: return .ended(status: status >> 8 & 0xFF, output: output, errors: errorText)
    case SIGXFSZ: return .wroteTooMuch
    case SIGXCPU: return .tookTooLong
    case let signal: return .died(signal: signal)
    }
  }

  /// Reads the bytes that have arrived, or a piece of them: more may come as fast as they are read.
  /// - Returns: whether there was no more than that in all; the rest is dropped.
  @discardableResult
  private static func read(_ descriptor: Int32, into bytes: inout [UInt8], atMost limit: Int) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return true }
      let room = max(0, limit - bytes.count)
      bytes += buffer[..<min(count, room)]
      if count > room { return false }
    }
  }
}
