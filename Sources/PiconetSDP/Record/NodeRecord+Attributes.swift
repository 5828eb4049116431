import PiconetWire

extension NodeRecord {
  /// The version of Piconet's attributes.
  public static let version: UInt8 = 1

  /// The numbers of attributes. Those from 0x8000 on are Piconet's: SDP leaves numbers above its universal ones to the
  /// definition of the service class (Core 5.4, Vol 3 Part B 5), and the session's UUID is such a class.
  public enum Attribute {
    public static let serviceClassIDList: UInt16 = 0x0001
    public static let protocolDescriptorList: UInt16 = 0x0004
    public static let browseGroupList: UInt16 = 0x0005
    public static let languageBaseAttributeIDList: UInt16 = 0x0006
    public static let additionalProtocolDescriptorLists: UInt16 = 0x000D
    /// At the base 0x0100, which the language list names.
    public static let serviceName: UInt16 = 0x0100
    /// uint8
    public static let version: UInt16 = 0x8000
    /// Text of 32 bytes.
    public static let peer: UInt16 = 0x8001
    /// uint64
    public static let incarnation: UInt16 = 0x8002
    /// Text.
    public static let sessionID: UInt16 = 0x8003
    /// uint64, of which the lower 48 bits are used.
    public static let adapter: UInt16 = 0x8004
    /// uint16
    public static let l2capPSM: UInt16 = 0x8005
    /// uint8
    public static let rfcommChannel: UInt16 = 0x8006
    /// uint16
    public static let lePSM: UInt16 = 0x8007
    /// A sequence of texts `key=value`.
    public static let info: UInt16 = 0x8008
  }

  /// The record as a server publishes it.
  /// - Parameter service: the session's UUID, derived from the session id.
  public func attributes(of service: BluetoothUUID) throws(NodeRecordRefusal) -> AttributeList {
    if let refusal { throw refusal }
    var list = AttributeList()
    list[Attribute.serviceClassIDList] = .sequence([.uuid(service)])
    list[Attribute.browseGroupList] = .sequence([.uuid(BluetoothUUID(short: 0x1002))])
    // English, UTF-8 (IANA's MIB number 106), base 0x0100.
    list[Attribute.languageBaseAttributeIDList] = .sequence([.uint16(0x656E), .uint16(0x006A), .uint16(0x0100)])
    list[Attribute.serviceName] = .text(Array(name.utf8))
    let l2cap = BluetoothUUID(short: 0x0100)
    var stacks: [DataElement] = []
    if let rfcommChannel {
      stacks.append(
        .sequence([
          .sequence([.uuid(l2cap)]), .sequence([.uuid(BluetoothUUID(short: 0x0003)), .uint8(rfcommChannel)]),
        ]))
    }
    if let l2capPSM { stacks.append(.sequence([.sequence([.uuid(l2cap), .uint16(l2capPSM)])])) }
    // Formally, two ways to one service would be an alternative (5.1.5), but hardly any browser reads those and it
    // would miss the channel as well. So one stack is the list and the other one an additional list (5.1.6); we
    // ourselves read our own attributes.
    list[Attribute.protocolDescriptorList] = stacks.first
    if stacks.count > 1 { list[Attribute.additionalProtocolDescriptorLists] = .sequence(Array(stacks.dropFirst())) }
    list[Attribute.version] = .uint8(Self.version)
    list[Attribute.peer] = .text(peer.bytes)
    list[Attribute.incarnation] = .uint64(incarnation.rawValue)
    list[Attribute.sessionID] = .text(Array(sessionID.utf8))
    list[Attribute.adapter] = adapter.map { .uint64($0.rawValue) }
    list[Attribute.l2capPSM] = l2capPSM.map { .uint16($0) }
    list[Attribute.rfcommChannel] = rfcommChannel.map { .uint8($0) }
    list[Attribute.lePSM] = lePSM.map { .uint16($0) }
    if !info.isEmpty {
      let pairs = info.sorted { $0.key < $1.key }.map { DataElement.text(Array("\($0.key)=\($0.value)".utf8)) }
      list[Attribute.info] = .sequence(pairs)
    }
    return list
  }

  /// Reads attributes of any sender.
  /// - Parameter service: the session's UUID, which must be the record's service class; nil: any.
  public init(_ list: AttributeList, of service: BluetoothUUID? = nil) throws(NodeRecordRefusal) {
    guard case .unsigned(UInt64(Self.version), .one) = list[Attribute.version] else { throw .badVersion }
    if let service {
      guard case .sequence(let classes) = list[Attribute.serviceClassIDList], classes.contains(.uuid(service)) else {
        throw .serviceClassMissing
      }
    }
    guard case .text(let digits) = list[Attribute.peer], let peer = PeerID(bytes: digits) else { throw .badPeer }
    guard case .unsigned(let incarnation, .eight) = list[Attribute.incarnation] else { throw .badIncarnation }
    guard case .text(let nameBytes) = list[Attribute.serviceName] else { throw .nameMissing }
    guard let name = Self.text(nameBytes, limit: Limits.name) else { throw .badName("is too long or not UTF-8") }
    guard case .text(let sessionIDBytes) = list[Attribute.sessionID],
      let sessionID = Self.text(sessionIDBytes, limit: Limits.sessionID)
    else { throw .badSessionID("is missing, too long or not UTF-8") }
    self.init(peer: peer, incarnation: Incarnation(rawValue: incarnation), name: name, sessionID: sessionID)
    if let element = list[Attribute.adapter] {
      guard case .unsigned(let address, .eight) = element, address <= 0xFFFF_FFFF_FFFF else { throw .badAdapter }
      adapter = BluetoothAddress(rawValue: address)
    }
    if let element = list[Attribute.l2capPSM] {
      guard case .unsigned(let psm, .two) = element else { throw .badPSM }
      l2capPSM = UInt16(truncatingIfNeeded: psm)
    }
    if let element = list[Attribute.rfcommChannel] {
      guard case .unsigned(let channel, .one) = element else { throw .badChannel }
      rfcommChannel = UInt8(truncatingIfNeeded: channel)
    }
    if let element = list[Attribute.lePSM] {
      guard case .unsigned(let psm, .two) = element else { throw .badLEPSM }
      lePSM = UInt16(truncatingIfNeeded: psm)
    }
    if let element = list[Attribute.info] { info = try Self.info(element) }
    if let refusal { throw refusal }
  }

  private static func info(_ element: DataElement) throws(NodeRecordRefusal) -> [String: String] {
    guard case .sequence(let pairs) = element else { throw .badInfo("is not a sequence") }
    guard pairs.count <= Limits.pairs else { throw .badInfo("has \(pairs.count) pairs, above \(Limits.pairs)") }
    var info: [String: String] = [:]
    for pair in pairs {
      guard case .text(let bytes) = pair, let text = text(bytes, limit: Limits.pair),
        let equals = text.utf8.firstIndex(of: 0x3D)
      else { throw .badInfo("has a pair that is too long, not UTF-8, or without =") }
      let key = String(text[..<equals])
      guard info.updateValue(String(text[text.utf8.index(after: equals)...]), forKey: key) == nil else {
        throw .badInfo("has a key twice")
      }
    }
    return info
  }

  private static func text(_ bytes: [UInt8], limit: Int) -> String? {
    bytes.count <= limit ? String(validating: bytes, as: UTF8.self) : nil
  }
}
