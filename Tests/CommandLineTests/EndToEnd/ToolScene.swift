import Foundation
import Glibc
import Piconet
import Synchronization
import TestSupport
import Testing

@testable import PiconetCommandLine

/// Tools in a session of their own, with folders of their own, only on loopback.
final class ToolScene: Sendable {
  let folder: TemporaryFolder
  /// An id that no other session has, so that no other peers are seen.
  let session = "test-\(UUID().uuidString)"
  /// Where receivers store their files.
  let into: String
  /// A TCP port for a receiver whose place another one takes. No program that asks for any port gets it in between:
  /// Linux gives those from 32768 on.
  let port = UInt16.random(in: 10_000..<32_000)
  private let processes = Mutex<[ToolProcess]>([])
  private let shells = Mutex<[ShellSession]>([])

  /// So many scenes at once, of two or three processes each: a program that is given seconds for something should not
  /// have to wait for the programs of thirty other scenes.
  private static let room = TaskGate(6)

  /// Runs a test and leaves no process behind.
  static func run(_ body: (ToolScene) async throws -> Void) async throws {
    guard await room.enter() else { return }
    defer { room.leave() }
    let scene = try ToolScene()
    do {
      try await body(scene)
      await scene.discard()
    } catch {
      await scene.discard()
      throw error
    }
  }

  private init() throws {
    folder = try TemporaryFolder()
    into = folder.path + "/in"
    try FileManager.default.createDirectory(atPath: into, withIntermediateDirectories: true)
  }

  /// Asks all programs to end, and waits until they have.
  func endAll() async {
    let processes = processes.withLock { $0 }
    for process in processes { process.terminate() }
    for process in processes { #expect(await process.end() != nil, "\(process.error)") }
  }

  private func discard() async {
    for process in processes.withLock({ $0 }) { await process.discard() }
    for shell in shells.withLock({ $0 }) { await shell.discard() }
  }

  /// The sample photos of this repository.
  static let samples = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../Tools/samples").standardized.path

  static var photos: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: samples).filter { $0.contains(".") }.sorted()
        .map { samples + "/" + $0 }
    }
  }

  /// Turns a program of root into one of a user without groups and capabilities. Only Debian's usual policies let that
  /// user use Bluetooth.
  private static let ordinaryUser = [
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--ambient-caps=-all",
    "--bounding-set=-all", "--no-new-privs",
  ]

  /// Lets the ordinary user write where the programs do.
  func openToAll() throws {
    for path in [folder.path, into] {
      try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
    }
  }

  /// Runs a node of this process in the session, over loopback alone, which accepts every invitation.
  func withNode(_ name: String, _ body: (Node) async throws -> Void) async throws {
    var configuration = NodeConfiguration(sessionID: session, name: name)
    configuration.transports = [.tcp]
    configuration.listen = "127.0.0.1:0"
    configuration.interfaces = ["lo"]
    try await Node.run(configuration) { node in
      let invitations = Task { for await invitation in node.invitations { _ = try? await invitation.accept() } }
      defer { invitations.cancel() }
      try await body(node)
    }
  }

  /// - Parameters:
  ///   - state: whose identity it has: each has a folder of its own.
  ///   - isOrdinary: whether it runs as the ordinary user if the tests are root's; call `openToAll` first.
  ///   - bus: the address of the D-Bus system bus of another host.
  ///   - limits: what a shell does before it becomes the program, such as `ulimit -n 32`.
  func start(
    _ tool: String, _ arguments: [String], state: String, onTerminal: Bool = false, outputOnTerminal: Bool = false,
    input: String? = nil,
    output: String? = nil, isLoopbackOnly: Bool = true, isOrdinary: Bool = false, bus: String? = nil,
    variables: [String: String] = [:], limits: String? = nil
  ) throws -> ToolProcess {
    // The options of `piconet` come after its command.
    let command = tool == "piconet" ? arguments.prefix(1) : []
    let inSession = command.first == "trust" ? [] : ["--session", session]
    let words = command + inSession + arguments.dropFirst(command.count)
    var environment = environment(state)
    environment["TERM"] = onTerminal ? "xterm" : "dumb"
    if isLoopbackOnly { environment["PICONET_INTERFACES"] = "lo" }
    if let bus { environment["DBUS_SYSTEM_BUS_ADDRESS"] = bus }
    environment.merge(variables) { $1 }
    if let limits {
      let process = try ToolProcess(
        "/bin/bash", ["-c", "\(limits); exec \"$0\" \"$@\"", ToolProcess.path(of: tool)] + words,
        environment: environment, output: output)
      processes.withLock { $0.append(process) }
      return process
    }
    let process = try ToolProcess(
      isOrdinary ? "/usr/bin/env" : tool,
      isOrdinary ? Self.ordinaryUser + [ToolProcess.path(of: tool)] + words : Array(words),
      environment: environment, onTerminal: onTerminal, outputOnTerminal: outputOnTerminal, input: input, output: output
    )
    processes.withLock { $0.append(process) }
    return process
  }

  private func environment(_ state: String) -> [String: String] {
    [
      "XDG_STATE_HOME": "\(folder.path)/state-\(state)", "XDG_CACHE_HOME": cacheHome(state), "HOME": folder.path,
      "LC_ALL": "C.UTF-8",
    ]
  }

  /// A shell at a terminal; `$session` in what is typed is the option that keeps programs to this test.
  func shell(state: String) async throws -> ShellSession {
    var environment = environment(state)
    environment["PICONET_INTERFACES"] = "lo"
    environment["session"] = "--session=\(session)"
    let programs = URL(filePath: ToolProcess.path(of: "imagesend")).deletingLastPathComponent().path
    environment["PATH"] = programs + ":/usr/bin:/bin"
    let shell = try await ShellSession(environment)
    shells.withLock { $0.append(shell) }
    return shell
  }

  /// A receiver that listens.
  /// - Parameter senders: the states of the devices that it knows already, and that may send to it without a person.
  func receiver(
    _ arguments: String..., name: String = "Kitchen", accept: String? = "all", json: Bool = true,
    onTerminal: Bool = false, state: String? = nil, into: String? = nil, knownTo senders: [String] = ["sender"]
  ) async throws -> ToolProcess {
    try await receiver(
      arguments, name: name, accept: accept, json: json, onTerminal: onTerminal, state: state, into: into,
      knownTo: senders)
  }

  func receiver(
    _ arguments: [String], name: String = "Kitchen", accept: String? = "all", json: Bool = true,
    onTerminal: Bool = false, state: String? = nil, into: String? = nil, knownTo senders: [String] = ["sender"]
  ) async throws -> ToolProcess {
    for sender in senders { try introduce(state ?? name, as: name, to: sender) }
    let receiver = try start(
      "imagerecv",
      ["--name", name, "--directory", into ?? self.into] + (json ? ["--json"] : [])
        + (accept.map { ["--accept", $0] } ?? []) + arguments, state: state ?? name, onTerminal: onTerminal)
    try #require(await receiver.shows(json ? "\"listening\"" : "listening on"), "\(receiver.error)")
    return receiver
  }

  /// A sender that tells its events, with `--json`.
  func sender(_ arguments: String..., state: String = "sender") throws -> ToolProcess {
    try start("imagesend", ["--json"] + arguments, state: state)
  }

  /// Makes one device, given by its state, known to another one, as `piconet trust add` does.
  func introduce(_ state: String, as name: String, to other: String) throws {
    let key = try storage(state).fingerprint()
    let rights: Set = [PeerRight(.send, ProgramEnvironment.imagesProgram)]
    try storage(other).changeTrust { (known) throws(StateFailure) in
      try known.take(key, name: name, at: 0, confirmed: .fingerprint, rights: rights)
    }
  }

  private func storage(_ state: String) throws -> IdentityStorage {
    try .userState(stateHome: "\(folder.path)/state-\(state)", home: folder.path)
  }

  /// What `piconet trust` says for these words.
  /// - Parameter isOrdinary: whether the device is the ordinary user's, whose files no other user writes.
  @discardableResult
  func trust(_ words: String..., state: String, isOrdinary: Bool = false) async throws -> String {
    let trust = try start("piconet", ["trust"] + words, state: state, isOrdinary: isOrdinary)
    #expect(await trust.end() == 0, "\(trust.error)")
    return trust.output
  }

  /// The fingerprint of the device with this state; creates the device if it does not exist.
  func fingerprint(_ state: String, isOrdinary: Bool = false) async throws -> String {
    let line = try await trust("identity", state: state, isOrdinary: isOrdinary)
    return try #require(line.split(separator: "\n").first.map(String.init))
  }

  /// Where the device with this state keeps what it can do without.
  func cacheHome(_ state: String) -> String { "\(folder.path)/cache-\(state)" }

  /// The file of known peers of the device with this state.
  func knownPeers(_ state: String) -> String { "\(folder.path)/state-\(state)/piconet/known-peers" }

  /// Waits until a file of known peers has this key: a program writes it only once it has let the device in.
  func isRemembered(_ key: String, in path: String) async throws -> Bool {
    let end = ContinuousClock.now + ToolProcess.patience
    while .now < end {
      if let peers = try? String(contentsOfFile: path, encoding: .utf8), peers.contains(key) { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  /// A file whose content no other has, and which begins like a JPEG.
  func photo(_ name: String, size: Int = 100_000) throws -> String {
    var random = SystemRandomNumberGenerator()
    var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0]
    bytes += (0..<max(0, size - 4) / 8 + 1).flatMap { _ in withUnsafeBytes(of: random.next() as UInt64) { Array($0) } }
    try folder.write(name, Array(bytes.prefix(size)))
    return "\(folder.path)/\(name)"
  }

  /// A large file that takes no space on the disk: zeros after a JPEG's beginning.
  func sparse(_ name: String, size: Int64) throws -> String {
    let path = try photo(name, size: 16)
    try #require(truncate(path, off_t(size)) == 0)
    return path
  }

  func received(_ folder: String? = nil) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder ?? into).sorted()
  }

  func isSame(_ path: String, _ other: String) throws -> Bool {
    try Data(contentsOf: URL(filePath: path)) == Data(contentsOf: URL(filePath: other))
  }
}
