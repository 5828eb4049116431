#if Bluetooth
  import PiconetSDP
  import PiconetWire

  /// What a malicious Bluetooth device may answer when asked for a session's records.
  enum HostileRecord: String, CaseIterable, Sendable, CustomStringConvertible {
    case endless, nested, wrongTypes, wrongLengths, longName, escapesInName, garbage, silence, hangsUp

    var description: String { rawValue }

    /// What a terminal would obey: clear the screen, set the title, and one eight-bit control character.
    static let escapes = "\u{1B}[2J\u{1B}]0;hello\u{07}\u{9B}31m\r"

    /// - Parameters:
    ///   - session id: the session.
    ///   - device: the adapter that the record is about.
    func answer(sessionID: String, service: BluetoothUUID, device: BluetoothAddress) throws -> HostileSDPServer.Answer {
      switch self {
      case .endless:
        return { transaction, _ in
          [HostileSDPServer.part(transaction, [UInt8](repeating: 0x35, count: 600), continuation: [1])]
        }
      case .nested:
        // Sequences within sequences, each as long as the outer one allows.
        var bytes: [UInt8] = []
        for size in (1...3000).reversed() {
          let left = UInt16(size * 3)
          bytes += [0x36, UInt8(left >> 8), UInt8(left & 0xFF)]
        }
        return HostileSDPServer.parts(bytes + [0, 0, 0])
      case .wrongTypes:
        let numbers: [UInt16] = [1, 4, 5, 6, 0x0D, 0x100] + Array(0x8000...0x8008)
        var list = AttributeList()
        for number in numbers { list[number] = .sequence([.uint8(1), .text([0xFF, 0x1B])]) }
        return HostileSDPServer.parts(DataElement.sequence([list.element]).encoded)
      case .wrongLengths:
        let bytes: [UInt8] = [0x35, 0x08, 0x35, 0xFF, 0x09, 0x80, 0x01, 0x27, 0xFF, 0xFF]
        return { transaction, round in
          [HostileSDPServer.packet(transaction, [0xFF, 0xFF] + bytes + [0], length: round == 0 ? 0xFFFF : nil)]
        }
      case .longName:
        return try Self.record(name: String(repeating: "x", count: 60_000), sessionID, service, device)
      case .escapesInName: return try Self.record(name: Self.escapes, sessionID, service, device)
      case .garbage: return { _, round in [(0..<200).map { UInt8(truncatingIfNeeded: $0 * 31 + round) }] }
      case .silence: return { _, _ in [] }
      case .hangsUp: return { _, _ in [[]] }
      }
    }

    /// A record like a node's own, except for the name.
    private static func record(
      name: String, _ sessionID: String, _ service: BluetoothUUID, _ device: BluetoothAddress
    ) throws -> HostileSDPServer.Answer {
      guard let peer = PeerID(bytes: [UInt8](repeating: 7, count: 32)) else { return { _, _ in [] } }
      var record = NodeRecord(peer: peer, incarnation: Incarnation(rawValue: 7), name: "x", sessionID: sessionID)
      record.l2capPSM = 0x1021
      record.adapter = device
      var list = try record.attributes(of: service)
      list[NodeRecord.Attribute.serviceName] = .text(Array(name.utf8))
      return HostileSDPServer.parts(DataElement.sequence([list.element]).encoded)
    }
  }
#endif
