import Glibc
import Piconet

/// What a tool takes from its environment, for the node that it starts.
struct ProgramEnvironment: Sendable {
  /// The session that both tools are in unless `--session` says otherwise.
  static let usualSession = "piconet-images"
  /// The program whose rights of known peers count, for imagesend and imagerecv, whatever the session.
  static let imagesProgram = "images"
  /// The right to push images, as a person writes it.
  static let imagesRight = "push"

  /// A variable's value, or nil.
  let variable: @Sendable (String) -> String?
  /// This machine's name, as gethostname(2) has it.
  let hostName: String

  init(variable: @escaping @Sendable (String) -> String?, hostName: String) {
    self.variable = variable
    self.hostName = hostName
  }

  /// That of this process.
  static let current = ProgramEnvironment(
    variable: { name in getenv(name).map { String(cString: $0) } }, hostName: systemHostName())

  /// The names in PICONET_INTERFACES; nil: all interfaces.
  var interfaces: Set<String>? {
    let names = (variable("PICONET_INTERFACES") ?? "").split { $0 == "," || $0 == " " }.map(String.init)
    return names.isEmpty ? nil : Set(names)
  }

  /// Where PICONET_TRACE says to record the run; with `redacted:` before the file, contents are replaced by zeros.
  var trace: TraceSettings? {
    guard let value = variable("PICONET_TRACE"), !value.isEmpty else { return nil }
    let mark = "redacted:"
    var settings = TraceSettings(path: value.hasPrefix(mark) ? String(value.dropFirst(mark.count)) : value)
    settings.isRedacted = value.hasPrefix(mark)
    return settings
  }

  /// Whether only this machine should be reached.
  var isLoopbackOnly: Bool { interfaces == ["lo"] }

  /// The host's name without its domain, cut to the length that a peer's name may have.
  var peerName: String {
    let label = hostName.prefix { $0 != "." }.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
    var name = String(String.UnicodeScalarView(label))
    while name.utf8.count > CommandLineLimits.nameBytes { name.removeLast() }
    return name.isEmpty ? "Linux" : name
  }

  /// The transports to use: with only `lo` everything stays on this machine, so Bluetooth must be asked for.
  func transports(_ options: TransportOptions, address: DialPlace? = nil) -> [TransportKind] {
    isLoopbackOnly && !options.asksForBluetooth(address) ? [.tcp] : options.choice.kinds
  }

  /// The settings that all tools share.
  func configuration(
    session: String?, name: String?, mode: SessionMode, transport: TransportOptions = TransportOptions(),
    address: DialPlace? = nil
  ) throws(PiconetError) -> NodeConfiguration {
    var configuration = NodeConfiguration(sessionID: session ?? Self.usualSession, name: name ?? peerName)
    configuration.mode = mode
    // A peer that a program has let in must not throw others out.
    configuration.removals = .nobody
    // Each member is one that a person has chosen.
    configuration.introductions = .refuse
    configuration.interfaces = interfaces
    configuration.transports = transports(transport, address: address)
    configuration.bluetooth.adapter = transport.adapter
    // One of several may appear later; if none of them exists, it is a typing error.
    if let interfaces, interfaces.allSatisfy({ if_nametoindex($0) == 0 }) {
      let names = interfaces.sorted().joined(separator: ", ")
      throw PiconetError(
        .invalidArgument, blame: .us, detail: "PICONET_INTERFACES names no network interface of this machine: \(names)")
    }
    configuration.trace = trace
    configuration.identity = try identity
    // Checked now: otherwise a node would let no one in, and the user would wonder why.
    _ = try configuration.identity.trustTable()
    return configuration
  }

  /// Where the key and the known peers of this user are.
  var identity: IdentityStorage {
    get throws(PiconetError) {
      try .userState(stateHome: variable("XDG_STATE_HOME"), home: variable("HOME") ?? Self.homeOfUser)
    }
  }

  /// The folders that keeping a key, known peers and a history writes in. What is wrong with them is said when they are
  /// used.
  var writtenFolders: [LocalPath] {
    guard let identity = try? identity, case .directory(let folder) = identity else { return [] }
    let folders = (try? identity.writtenFolders()) ?? [folder]
    return folders.sorted().map { LocalPath($0) }
  }

  /// Where what has been received is noted: beside the key.
  var history: History? {
    guard case .directory(let folder)? = try? identity else { return nil }
    return History(in: folder)
  }

  /// Where the digests of files are kept that were read; nil: there is no home.
  var digests: DigestCacheFile? { DigestCacheFile(variable: variable) }

  /// The names of the peers that this user's device knows. None if they can't be read, as a node will report.
  var naming: PeerNaming { (try? identity.trustTable()).map(PeerNaming.init) ?? .nobody }

  private static var homeOfUser: String? { getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) } }

  private static func systemHostName() -> String {
    // Linux allows at most 64 bytes; one more for the NUL, which gethostname leaves out when it truncates.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 257) { buffer in
      buffer.initialize(repeating: 0)
      guard let start = buffer.baseAddress, gethostname(start, buffer.count - 1) == 0 else { return "" }
      return String(cString: start)
    }
  }
}
