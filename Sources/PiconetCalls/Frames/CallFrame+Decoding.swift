extension CallFrame {
  /// Reads bytes that hold one frame. Unknown kinds, and fields behind the known ones, are skipped: a later version may
  /// have them.
  /// - Throws: the broken rule.
  public init(decoding bytes: ArraySlice<UInt8>) throws(CBORError) {
    var addresses = CallAddresses()
    try self.init(decoding: bytes, &addresses)
  }

  /// Reads bytes that hold one frame; see above.
  /// - Parameter addresses: the addresses of the same member.
  init(decoding bytes: ArraySlice<UInt8>, _ addresses: inout CallAddresses) throws(CBORError) {
    var reader = CBORReader(bytes)
    let count = try reader.array()
    guard count > 0 else { throw CBORError(.malformed, "a frame without a kind") }
    let kind = try reader.unsigned()
    let fields = count - 1
    let known: Int
    switch kind {
    case Kind.hello:
      known = try Self.enough(fields, 6)
      self = .hello(try Hello(&reader))
    case Kind.goodbye:
      known = try Self.enough(fields, 2)
      self = .goodbye(.init(rawValue: try reader.unsigned()), try reader.text(upTo: CallLimits.text))
    case Kind.call:
      known = try Self.enough(fields, 7)
      self = .call(try Call(&reader, &addresses))
    case Kind.result:
      known = try Self.enough(fields, 2)
      self = .result(number: try reader.unsigned(), value: try reader.skip())
    case Kind.failure:
      known = try Self.enough(fields, 5)
      self = .failure(number: try reader.unsigned(), try CallFailure(&reader))
    case Kind.cancel:
      known = try Self.enough(fields, 1)
      self = .cancel(number: try reader.unsigned())
    case Kind.begin:
      known = try Self.enough(fields, 3)
      self = .begin(id: try reader.unsigned(), total: try reader.unsigned(), try reader.byteString())
    case Kind.next:
      known = try Self.enough(fields, 2)
      self = .next(id: try reader.unsigned(), try reader.byteString())
    case Kind.signal:
      known = try Self.enough(fields, 5)
      self = .signal(try Signal(&reader))
    case Kind.claim:
      known = try Self.enough(fields, 3)
      self = .claim(
        NameClaim(try reader.name(), time: try reader.unsigned(), .init(rawValue: try reader.unsigned())))
    case Kind.release:
      known = try Self.enough(fields, 1)
      self = .release(name: try reader.name())
    case Kind.heard:
      known = try Self.enough(fields, 2)
      self = .heard(name: try reader.name(), time: try reader.unsigned())
    case Kind.refused:
      known = try Self.enough(fields, 2)
      self = .refused(name: try reader.name(), time: try reader.unsigned())
    default:
      known = 0
      self = .unknown(kind)
    }
    for _ in 0..<(fields - known) { _ = try reader.skip() }
    if !reader.isAtEnd { throw CBORError(.malformed, "something behind the frame") }
  }

  private static func enough(_ fields: Int, _ needed: Int) throws(CBORError) -> Int {
    if fields < needed { throw CBORError(.malformed, "a frame with too few fields") }
    return needed
  }
}

extension CBORReader {
  mutating func text(upTo limit: Int) throws(CBORError) -> String {
    let text = try text()
    if text.utf8.count > limit { throw CBORError(.limit, "text of more than \(limit) bytes") }
    return text
  }

  mutating func name() throws(CBORError) -> String {
    let name = try text()
    if !CallLimits.isName(name) { throw CBORError(.malformed, "no name") }
    return name
  }

  mutating func path() throws(CBORError) -> String {
    let path = try text()
    if !CallLimits.isPath(path) { throw CBORError(.malformed, "no path") }
    return path
  }

  /// Returns whether null comes next, which it then reads.
  mutating func null() throws(CBORError) -> Bool {
    var ahead = self
    guard try ahead.value() == .null else { return false }
    self = ahead
    return true
  }
}

extension CallFrame.Hello {
  fileprivate init(_ reader: inout CBORReader) throws(CBORError) {
    version = try reader.unsigned()
    instance = try reader.unsigned()
    let frame = Int(clamping: try reader.unsigned())
    let calls = Int(clamping: try reader.unsigned())
    guard frame >= CallLimits.least.frame, calls >= CallLimits.least.calls else {
      throw CBORError(.limit, "limits below what every node takes")
    }
    limits = CallLimits(frame: frame, calls: calls)
    asks = try reader.bool()
    guard case .map(let entries) = try reader.value(), entries.count <= Self.aboutLimit else {
      throw CBORError(.limit, "no map of at most \(Self.aboutLimit) entries")
    }
    about = []
    for entry in entries {
      guard case .text(let key) = entry.key, case .text(let value) = entry.value, key.utf8.count <= CallLimits.name,
        value.utf8.count <= CallLimits.text
      else { throw CBORError(.malformed, "an announcement with something else than short texts") }
      about.append(.init(key, value))
    }
  }

  /// The most pairs with which a node describes itself.
  public static var aboutLimit: Int { 64 }
}

extension CallFrame.Call {
  fileprivate init(_ reader: inout CBORReader, _ addresses: inout CallAddresses) throws(CBORError) {
    number = try reader.unsigned()
    address = try addresses.next(&reader)
    milliseconds = try reader.unsigned()
    guard (1...CallLimits.milliseconds).contains(milliseconds) else {
      throw CBORError(.limit, "a deadline that is not 1 to \(CallLimits.milliseconds) ms")
    }
    arguments = try reader.skip()
    guard let first = arguments.first, first >> 5 == 4 else { throw CBORError(.malformed, "arguments in no array") }
  }
}

extension CallFrame.Signal {
  fileprivate init(_ reader: inout CBORReader) throws(CBORError) {
    path = try reader.path()
    interface = try reader.name()
    name = try reader.name()
    value = try reader.skip()
    isKept = try reader.bool()
  }
}

extension CallFailure {
  fileprivate init(_ reader: inout CBORReader) throws(CBORError) {
    code = Code(rawValue: try reader.unsigned())
    text = try reader.text(upTo: CallLimits.text)
    name = try reader.null() ? nil : try reader.name()
    let encoded = try reader.skip()
    error = encoded.elementsEqual([0xF6]) ? nil : Array(encoded)
  }
}
