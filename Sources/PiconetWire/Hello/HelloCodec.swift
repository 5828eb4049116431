/// The body of a hello: lowest and highest version, then parameters in ascending order of their ids. Each parameter is
/// an id, a length and a value. Unknown parameters are skipped. Only the two version numbers have the same meaning in
/// every version.
enum HelloCodec {
  enum Parameter {
    static let sessionID: UInt64 = 1
    static let name: UInt64 = 2
    static let incarnation: UInt64 = 3
    static let capabilities: UInt64 = 4
    static let messageLimit: UInt64 = 5
    static let frameLimit: UInt64 = 6
    static let messageWindow: UInt64 = 7
    static let transferLimit: UInt64 = 8
    static let silence: UInt64 = 9
    static let associationsBegun: UInt64 = 10
    static let held: UInt64 = 11
    static let streamLimit: UInt64 = 14
    static let streamWindow: UInt64 = 15
    static let greeting: UInt64 = 16
    static let channels: UInt64 = 17
    static let channelWindow: UInt64 = 18
  }

  static func append(_ hello: Hello, to body: inout [UInt8]) {
    body.append(hello.versions.lowerBound)
    body.append(hello.versions.upperBound)
    appendParameter(Parameter.sessionID, Array(hello.sessionID.prefix(utf8: WireLimits.sessionID).utf8), to: &body)
    appendParameter(Parameter.name, Array(hello.name.prefix(utf8: WireLimits.name).utf8), to: &body)
    var incarnation: [UInt8] = []
    FrameEncoder.appendWord(hello.incarnation.rawValue, to: &incarnation)
    appendParameter(Parameter.incarnation, incarnation, to: &body)
    appendInteger(Parameter.capabilities, hello.capabilities.rawValue, to: &body)
    appendInteger(Parameter.messageLimit, hello.limits.message, to: &body)
    appendInteger(Parameter.frameLimit, hello.limits.frame, to: &body)
    appendInteger(Parameter.messageWindow, hello.limits.messageWindow, to: &body)
    appendInteger(Parameter.transferLimit, hello.limits.transfers, to: &body)
    appendInteger(Parameter.silence, hello.limits.silence, to: &body)
    if hello.associationsBegun > 0 { appendInteger(Parameter.associationsBegun, hello.associationsBegun, to: &body) }
    if let held = hello.held {
      var value: [UInt8] = []
      FrameEncoder.appendWord(held.id.high, to: &value)
      FrameEncoder.appendWord(held.id.low, to: &value)
      VariableInteger.append(held.received, to: &value)
      appendParameter(Parameter.held, value, to: &body)
    }
    appendInteger(Parameter.streamLimit, hello.limits.streams, to: &body)
    appendInteger(Parameter.streamWindow, hello.limits.streamWindow, to: &body)
    if !hello.greeting.isEmpty { appendParameter(Parameter.greeting, hello.greeting, to: &body) }
    if hello.limits.channels > 1 {
      appendInteger(Parameter.channels, hello.limits.channels, to: &body)
      appendInteger(Parameter.channelWindow, hello.limits.channelWindow, to: &body)
    }
  }

  private static func appendParameter(_ id: UInt64, _ value: [UInt8], to body: inout [UInt8]) {
    VariableInteger.append(id, to: &body)
    VariableInteger.append(UInt64(value.count), to: &body)
    body.append(contentsOf: value)
  }

  private static func appendInteger(_ id: UInt64, _ value: UInt64, to body: inout [UInt8]) {
    var bytes: [UInt8] = []
    VariableInteger.append(value, to: &bytes)
    appendParameter(id, bytes, to: &body)
  }

  static func decode(_ body: Bytes) throws(WireError) -> Hello {
    var reader = ByteReader(body, type: FrameType.hello)
    let lowest = try reader.byte("lowest version")
    let highest = try reader.byte("highest version")
    guard lowest <= highest else { throw reader.malformed("versions \(lowest) to \(highest)") }
    var hello = Hello(versions: lowest...highest, incarnation: Incarnation(rawValue: 0), name: "", sessionID: "")
    // The rest of a hello of other versions is not checked: the link ends for lack of a common version.
    guard hello.versions.overlaps(Hello.supportedVersions) else { return hello }
    var required: Set<UInt64> = [Parameter.sessionID, Parameter.name, Parameter.incarnation]
    var parameters = FieldReader(reader, kind: "parameter")
    while let (id, value) = try parameters.next() {
      required.remove(id)
      try decodeParameter(id, value, into: &hello)
    }
    if let missing = required.min() { throw reader.malformed("parameter \(missing) is missing") }
    return hello
  }

  private static func decodeParameter(
    _ id: UInt64, _ value: ByteReader, into hello: inout Hello
  ) throws(WireError) {
    var reader = value
    switch id {
    case Parameter.sessionID: hello.sessionID = try reader.remainingText("session id", atMost: WireLimits.sessionID)
    case Parameter.name: hello.name = try reader.remainingText("name", atMost: WireLimits.name)
    case Parameter.incarnation: hello.incarnation = Incarnation(rawValue: try word(&reader, "incarnation"))
    case Parameter.capabilities: hello.capabilities = Capabilities(rawValue: try reader.integer("capabilities"))
    case Parameter.messageLimit: hello.limits.message = try reader.integer("message limit")
    case Parameter.frameLimit:
      hello.limits.frame = try reader.integer("frame limit")
      guard hello.limits.frame >= UInt64(WireLimits.smallestFrame) else {
        throw reader.malformed("frame limit \(hello.limits.frame), below \(WireLimits.smallestFrame)")
      }
      hello.limits.frame = min(hello.limits.frame, UInt64(WireLimits.largestFrame))
    case Parameter.messageWindow: hello.limits.messageWindow = try reader.integer("message window")
    case Parameter.transferLimit: hello.limits.transfers = try reader.integer("transfer limit")
    case Parameter.streamLimit: hello.limits.streams = try reader.integer("stream limit")
    case Parameter.streamWindow: hello.limits.streamWindow = try reader.integer("stream window")
    case Parameter.channels:
      hello.limits.channels = try reader.integer("channels")
      guard (1...UInt64(MessageChannel.count)).contains(hello.limits.channels) else {
        throw reader.malformed("\(hello.limits.channels) channels, not 1 to \(MessageChannel.count)")
      }
    case Parameter.channelWindow:
      hello.limits.channelWindow = try reader.integer("channel window")
      guard hello.limits.channelWindow >= UInt64(WireLimits.channelWindow) else {
        throw reader.malformed("channel window \(hello.limits.channelWindow), below \(WireLimits.channelWindow)")
      }
    case Parameter.greeting: hello.greeting = try reader.remainingBytes("greeting", atMost: WireLimits.greeting)
    case Parameter.silence:
      hello.limits.silence = try reader.integer("silence")
      guard WireLimits.silence.contains(hello.limits.silence) else {
        throw reader.malformed("silence of \(hello.limits.silence) ms, outside \(WireLimits.silence)")
      }
    case Parameter.associationsBegun: hello.associationsBegun = try reader.integer("associations begun")
    case Parameter.held:
      let high = try word(&reader, "association")
      let low = try word(&reader, "association")
      hello.held = HeldAssociation(
        id: AssociationID(high: high, low: low), received: try reader.integer("received"))
    default: return
    }
    try reader.end()
  }

  static func word(_ reader: inout ByteReader, _ field: String) throws(WireError) -> UInt64 {
    var word: UInt64 = 0
    for byte in try reader.bytes(8, field) { word = word << 8 | UInt64(byte) }
    return word
  }
}
