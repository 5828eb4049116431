import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// One of our programs, running. What it writes is read all the time, so it never waits for us.
final class ToolProcess: Sendable {
  /// What came out of one descriptor so far.
  private struct Stream {
    var bytes: [UInt8] = []
    var hasEnded = false
  }

  private struct State {
    var output = Stream()
    var error = Stream()
    /// As a shell counts: the exit code, or 128 and the signal.
    var status: Int32?
    var endSignal: Int32?
    var peakMemory = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
    var trigger: Trigger?
  }

  /// What is done once standard output is so.
  private struct Trigger {
    let isMet: @Sendable (String) -> Bool
    let act: @Sendable () -> Void
  }

  let pid: pid_t
  private let state = Mutex(State())
  /// The person's end of the terminal, if it has one.
  private let terminal: Int32?

  private static let starting = NSLock()

  /// How long anything is waited for. Long, since the machine may be busy: only a test that fails takes so long.
  static let patience = Duration.seconds(90)

  /// - Parameters:
  ///   - onTerminal: standard input and standard error are a terminal. Standard output is a pipe even then, unless
  ///     `outputOnTerminal`, which gives all three to `error`.
  ///   - input: a file to read; otherwise there is nothing to read.
  ///   - output: a file to write, instead of what `output` gives.
  init(
    _ tool: String, _ arguments: [String], environment: [String: String], onTerminal: Bool = false,
    outputOnTerminal: Bool = false, input inputPath: String? = nil, output outputPath: String? = nil
  ) throws {
    Self.starting.lock()
    defer { Self.starting.unlock() }
    var output = try Self.pipe()
    if let outputPath {
      close(output.write)
      output.write = open(outputPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
      try #require(output.write >= 0)
    }
    let error: (read: Int32, write: Int32)
    var input = open(inputPath ?? "/dev/null", O_RDONLY | O_CLOEXEC)
    if onTerminal {
      let pair = try Self.terminal()
      error = (pair.person, pair.program)
      close(input)
      input = dup(pair.program)
      if outputOnTerminal {
        close(output.write)
        output.write = dup(pair.program)
      }
    } else {
      error = try Self.pipe()
    }
    terminal = onTerminal ? error.read : nil

    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, descriptor) in [input, output.write, error.write].enumerated() {
      posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The test runner may block or ignore signals; the tool should start as from a shell.
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var words = ([Self.path(of: tool)] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var started: pid_t = 0
    let failure = posix_spawn(&started, Self.path(of: tool), &actions, &attributes, &words, &variables)
    for descriptor in [input, output.write, error.write] { close(descriptor) }
    try #require(failure == 0, "posix_spawn: \(failure)")
    pid = started

    read(output.read, { $1(&$0.output) }, closing: true)
    read(error.read, { $1(&$0.error) }, closing: !onTerminal)
    Thread.detachNewThread { [self] in
      var status: Int32 = 0
      while waitpid(pid, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7F
      change { state in
        state.status = signal == 0 ? status >> 8 & 0xFF : 128 + signal
        state.endSignal = signal == 0 ? nil : signal
      }
    }
  }

  /// The programs are beside the test bundle, where the build puts both, or where `PICONET_PROGRAMS` says.
  static func path(of tool: String) -> String {
    let chosen = ProcessInfo.processInfo.environment["PICONET_PROGRAMS"].map { "\($0)/\(tool)" }
    if let chosen, FileManager.default.isExecutableFile(atPath: chosen) { return chosen }
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let beside = URL(filePath: program).deletingLastPathComponent().appending(path: tool).path
    if FileManager.default.isExecutableFile(atPath: beside) { return beside }
    for bundle in Bundle.allBundles {
      let path = bundle.bundleURL.deletingLastPathComponent().appending(path: tool).path
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    return CommandLine.arguments.lazy.filter { $0.hasSuffix(".xctest") }.map {
      URL(filePath: $0).deletingLastPathComponent().appending(path: tool).path
    }.first { FileManager.default.isExecutableFile(atPath: $0) } ?? tool
  }

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    try #require(Glibc.pipe(&ends) == 0)
    // pipe2(2) is not imported; `starting` keeps another test from starting a process in between, which would inherit
    // the ends and keep the pipe open as long as it lives.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  private static func terminal() throws -> (person: Int32, program: Int32) {
    let pair = try #require(PseudoTerminal())
    return (fcntl(pair.person, F_DUPFD_CLOEXEC, 3), fcntl(pair.program, F_DUPFD_CLOEXEC, 3))
  }

  private func read(
    _ descriptor: Int32, _ stream: @escaping @Sendable (inout State, (inout Stream) -> Void) -> Void, closing: Bool
  ) {
    Thread.detachNewThread { [self] in
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        // A terminal whose other end was closed gives EIO.
        if count <= 0 { break }
        let memory = peakMemoryNow()
        change { state in
          stream(&state) { $0.bytes += buffer.prefix(count) }
          state.peakMemory = max(state.peakMemory, memory)
        }
        actIfMet()
      }
      change { stream(&$0) { $0.hasEnded = true } }
      if closing { close(descriptor) }
    }
  }

  private func actIfMet() {
    let act = state.withLock { state -> (@Sendable () -> Void)? in
      guard let trigger = state.trigger, trigger.isMet(String(decoding: state.output.bytes, as: UTF8.self)) else {
        return nil
      }
      state.trigger = nil
      return trigger.act
    }
    act?()
  }

  private func change(_ body: (inout State) -> Void) {
    let waiters = state.withLock { state in
      body(&state)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Waits until `condition` gives something; nil if that takes too long.
  private func wait<Value: Sendable>(
    atMost patience: Duration = patience, _ condition: @Sendable @escaping (borrowing Snapshot) -> Value?
  ) async -> Value? {
    let deadline = ContinuousClock.now + patience
    let alarm = Task {
      try await ContinuousClock().sleep(until: deadline)
      change { _ in }
    }
    defer { alarm.cancel() }
    while true {
      if let value = condition(snapshot) { return value }
      if ContinuousClock.now >= deadline { return nil }
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { state in
          guard condition(Snapshot(state)) == nil, ContinuousClock.now < deadline else { return false }
          state.waiters.append(continuation)
          return true
        }
        if !mustWait { continuation.resume() }
      }
    }
  }

  private struct Snapshot {
    let output: String
    let error: String
    let status: Int32?

    init(_ state: borrowing State) {
      output = String(decoding: state.output.bytes, as: UTF8.self)
      error = String(decoding: state.error.bytes, as: UTF8.self)
      status = state.output.hasEnded && state.error.hasEnded ? state.status : nil
    }
  }

  private var snapshot: Snapshot { state.withLock { Snapshot($0) } }

  // MARK: What a test does with it

  var output: String { snapshot.output }
  var error: String { snapshot.error }

  /// Standard error with the lines joined that a terminal's width has broken at words.
  var unbrokenError: String { Self.unbroken(error) }

  static func unbroken(_ shown: String) -> String { shown.replacing("\r\n  ", with: " ") }

  /// Waits for a text on standard output or standard error; false if the process ends without it.
  func shows(_ text: String) async -> Bool {
    await wait { snapshot -> Bool? in
      if snapshot.output.contains(text) || snapshot.error.contains(text) { return true }
      if Self.unbroken(snapshot.error).contains(text) { return true }
      return snapshot.status == nil ? nil : false
    } ?? false
  }

  /// Waits for the first of several texts on standard error; nil if the process ends without one.
  func shows(oneOf texts: [String]) async -> String? {
    await wait { snapshot -> String?? in
      if let text = texts.first(where: Self.unbroken(snapshot.error).contains) { return text }
      return snapshot.status == nil ? nil : .some(nil)
    } ?? nil
  }

  /// Waits until a text comes after another one on standard error; false if the process ends first.
  func shows(_ text: String, behind other: String) async -> Bool {
    await wait { snapshot -> Bool? in
      if snapshot.error.components(separatedBy: other).dropFirst().contains(where: { $0.contains(text) }) {
        return true
      }
      return snapshot.status == nil ? nil : false
    } ?? false
  }

  /// Waits until this is true of standard output; false if it never is.
  func shows(_ isSo: @escaping @Sendable (_ output: String) -> Bool) async -> Bool {
    await wait { snapshot -> Bool? in isSo(snapshot.output) ? true : snapshot.status == nil ? nil : false } ?? false
  }

  /// Waits until this is true of standard error, whose lines are joined as in `unbrokenError`; false if it never is.
  func errorShows(_ isSo: @escaping @Sendable (_ error: String) -> Bool) async -> Bool {
    await wait { snapshot -> Bool? in
      isSo(Self.unbroken(snapshot.error)) ? true : snapshot.status == nil ? nil : false
    } ?? false
  }

  /// Waits for the end; nil if it does not come in time.
  func end(within patience: Duration = patience) async -> Int32? { await wait(atMost: patience) { $0.status } }

  /// Acts once this is true of standard output, on the thread that reads it: what is to happen in the middle of
  /// something short can't wait until a task has its turn.
  func once(_ isMet: @escaping @Sendable (_ output: String) -> Bool, act: @escaping @Sendable () -> Void) {
    state.withLock { $0.trigger = Trigger(isMet: isMet, act: act) }
    actIfMet()
  }

  func type(_ keys: String) {
    if let terminal { _ = keys.withCString { write(terminal, $0, strlen($0)) } }
  }

  func send(signal: Int32) { kill(pid, signal) }

  /// The signal that has ended it; nil if it has exited by itself, or is running.
  var endSignal: Int32? { state.withLock { $0.endSignal } }

  var isRunning: Bool { state.withLock { $0.status } == nil }

  /// The most memory in KiB that it was seen to have at once.
  var peakMemory: Int {
    let now = peakMemoryNow()
    return state.withLock { max($0.peakMemory, now) }
  }

  private func peakMemoryNow() -> Int {
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") })
    else { return 0 }
    return Int(line.split { $0 == " " || $0 == "\t" }[1]) ?? 0
  }

  /// The events that were told, of one kind or of all.
  func events(_ kind: String? = nil) -> [[String: Any]] {
    output.split(separator: "\n").compactMap { line in
      guard let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else { return nil }
      return kind == nil || event["event"] as? String == kind ? event : nil
    }
  }

  /// For a receiver that tells its events: its own fingerprint.
  var fingerprint: String? { events("listening").first?["peer"] as? String }

  /// Asks it to end, if it is still there.
  func terminate() {
    if state.withLock({ $0.status }) == nil { kill(pid, SIGTERM) }
  }

  /// Ends it if it is still there; for the end of a test.
  func discard() async {
    if state.withLock({ $0.status }) == nil {
      kill(pid, SIGCONT)
      kill(pid, SIGKILL)
      _ = await wait { $0.status }
    }
    if let terminal { close(terminal) }
  }
}
