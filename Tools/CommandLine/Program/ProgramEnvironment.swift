import Glibc
import Piconet

/// What a tool takes from its environment, for the node that it starts.
struct ProgramEnvironment: Sendable {
  /// The session that both tools are in unless `--session` says otherwise.
  static let usualSession = "piconet-images"
  /// Of which rights of known peers count, for imagesend and imagerecv, whatever the session.
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

  /// Of this process.
  static let current = ProgramEnvironment(
    variable: { name in getenv(name).map { String(cString: $0) } }, hostName: systemHostName())

  /// The names in PICONET_INTERFACES; nil: all interfaces.
  var interfaces: Set<String>? {
    let names = (variable("PICONET_INTERFACES") ?? "").split { $0 == "," || $0 == " " }.map(String.init)
    return names.isEmpty ? nil : Set(names)
  }

  /// Where PICONET_TRACE wants the run recorded; with `redacted:` before the file, contents are zeros.
  var trace: TraceSettings? {
    guard let value = variable("PICONET_TRACE"), !value.isEmpty else { return nil }
    let mark = "redacted:"
    var settings = TraceSettings(path: value.hasPrefix(mark) ? String(value.dropFirst(mark.count)) : value)
    settings.isRedacted = value.hasPrefix(mark)
    return settings
  }

  /// Whether nothing but this machine is to be reached.
  var isLoopbackOnly: Bool { interfaces == ["lo"] }

  /// The host's name without its domain, cut to what a peer's name may have.
  var peerName: String {
    let label = hostName.prefix { $0 != "." }.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
    var name = String(String.UnicodeScalarView(label))
    while name.utf8.count > CommandLineLimits.nameBytes { name.removeLast() }
    return name.isEmpty ? "Linux" : name
  }

  /// The transports to use: `lo` alone keeps to this machine, so there Bluetooth has to be asked for.
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
    // Whom a program has let in throws nobody else out of it.
    configuration.allowsRemoval = false
    configuration.interfaces = interfaces
    configuration.transports = transports(transport, address: address)
    configuration.bluetooth.adapter = transport.adapter
    // One of several may appear later; if there is none of them, it is a slip of the keyboard.
    if let interfaces, interfaces.allSatisfy({ if_nametoindex($0) == 0 }) {
      let names = interfaces.sorted().joined(separator: ", ")
      throw PiconetError(
        .invalidArgument, blame: .us, detail: "PICONET_INTERFACES names no network interface of this machine: \(names)")
    }
    configuration.trace = trace
    configuration.identity = try identity
    // A node would let nobody in, and the person would wonder why.
    _ = try configuration.identity.trustTable()
    return configuration
  }

  /// Where the key and the known peers of this user are.
  var identity: IdentityStorage {
    get throws(PiconetError) {
      try .userState(stateHome: variable("XDG_STATE_HOME"), home: variable("HOME") ?? Self.homeOfUser)
    }
  }

  /// How the peers that this user's device knows are called. None where they can't be read, which a node then says.
  var naming: PeerNaming { (try? identity.trustTable()).map(PeerNaming.init) ?? .nobody }

  private static var homeOfUser: String? { getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) } }

  private static func systemHostName() -> String {
    // Linux has at most 64 bytes; one more for the NUL that gethostname leaves out when it cuts.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 257) { buffer in
      buffer.initialize(repeating: 0)
      guard let start = buffer.baseAddress, gethostname(start, buffer.count - 1) == 0 else { return "" }
      return String(cString: start)
    }
  }
}
