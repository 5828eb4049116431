import Foundation
import Glibc
import TestSupport
import Testing

@testable import PiconetTerminal

/// A shell with job control at a terminal of its own, as a person has it: what is typed goes to whichever program is in
/// the foreground, and closing the terminal hangs up.
final class ShellSession: @unchecked Sendable {
  // Unchecked: a test awaits each call before the next, so all of it has one user at a time.
  private let pid: pid_t
  private var terminal: PseudoTerminal?
  private static let prompt = "ready> "

  /// - Parameter environment: of the shell and of what it starts.
  init(_ environment: [String: String]) async throws {
    // So wide that no sentence is broken.
    let terminal = try #require(PseudoTerminal(columns: 250))
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for number in 0..<3 as Range<Int32> { posix_spawn_file_actions_adddup2(&actions, terminal.program, number) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    // The shell becomes the first of a session that has this terminal.
    let words = ["setsid", "--ctty", "bash", "--norc", "--noprofile", "--noediting", "-i"]
    let variables = environment.merging(["PS1": Self.prompt, "TERM": "xterm"]) { $1 }
    var arguments = words.map { strdup($0) } + [nil]
    var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in arguments + settings { free(text) } }
    var started: pid_t = 0
    try #require(posix_spawn(&started, "/usr/bin/setsid", &actions, &attributes, &arguments, &settings) == 0)
    pid = started
    self.terminal = terminal
    #expect(await shows(Self.prompt))
  }

  /// What was shown since keys were typed last.
  var text: String { terminal?.shown ?? "" }

  /// Waits for a text behind what was typed last.
  func shows(_ words: String) async -> Bool {
    guard let terminal else { return false }
    return await onItsOwnThread { terminal.waits(for: words) } ?? false
  }

  /// Waits for one of two texts.
  /// - Returns: whether it was the first.
  func shows(_ words: String, or other: String) async -> Bool {
    guard let terminal else { return false }
    return await onItsOwnThread {
      let deadline = ContinuousClock.now + ToolProcess.patience
      while .now < deadline {
        terminal.readAll()
        if terminal.shown.contains(words) { return true }
        if terminal.shown.contains(other) { return false }
        _ = poll(nil, 0, 20)
      }
      return false
    } ?? false
  }

  /// Waits until the shell says that what ran was stopped, and is ready.
  func isStopped() async -> Bool {
    guard await shows("Stopped") else { return false }
    return await shows(Self.prompt)
  }

  func type(_ keys: String) {
    terminal?.readAll()
    terminal?.forget()
    terminal?.type(keys)
  }

  /// Types without forgetting what was shown: a program may have ended meanwhile.
  func press(_ keys: String) { terminal?.type(keys) }

  /// Runs a command to its end, and gives what it has shown.
  func run(_ command: String) async -> String {
    type("\(command); echo end''ed\n")
    // With the prompt, which would otherwise be taken for that of the next command.
    #expect(await shows("ended\r\n" + Self.prompt), "\(text)")
    return text.components(separatedBy: "\r\n").dropFirst().prefix { $0 != "ended" }.joined(separator: "\n")
  }

  func resize(columns: UInt16, rows: UInt16 = 24) { terminal?.resize(columns: columns, rows: rows) }

  /// Runs a command whose exit status goes into a file, and which gets no SIGHUP when the terminal is closed: the shell
  /// keeps that to itself, and waits. The first line of `status` is the command's process, the second its status.
  func typeSheltered(_ command: String, status: String) {
    type("trap : HUP; sh -c 'echo $$ >\(status); exec \(command)'; echo $? >>\(status)\n")
  }

  /// Closes the terminal, as a window does.
  func close() { terminal = nil }

  /// Closes the terminal, as a window does: everything in it gets SIGHUP.
  /// - Returns: whether all that ran in it has ended.
  func hangUp() async -> Bool {
    close()
    return await hasEnded()
  }

  /// Waits until all that ran in it has ended.
  func hasEnded() async -> Bool {
    await onItsOwnThread { [self] in
      let deadline = ContinuousClock.now + ToolProcess.patience
      while !programs.isEmpty, .now < deadline { _ = poll(nil, 0, 20) }
      return programs.isEmpty
    } ?? false
  }

  /// The processes of its session that have not ended.
  private var programs: [pid_t] {
    var status: Int32 = 0
    _ = waitpid(pid, &status, WNOHANG)
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc"))?.compactMap { pid_t($0) } ?? []
    return all.filter { process in
      guard getsid(process) == pid, let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
        let state = text.split(separator: ")").last?.split(separator: " ").first
      else { return false }
      return state != "Z"
    }
  }

  func discard() async {
    for process in programs { kill(process, SIGKILL) }
    _ = await hangUp()
  }
}
