/// The identity of a peer in the terms of this module: in the greeting of each session's node, in invitations and in
/// connection data.
struct PeerCard: Sendable, Equatable {
  var identifier: UInt64
  var displayName: String
  var encryption: MCEncryptionPreference

  init(_ peer: MCPeerID, _ encryption: MCEncryptionPreference) {
    identifier = peer.identifier
    displayName = peer.displayName
    self.encryption = encryption
  }

  init(greeting: [UInt8]) throws(PaperReader.Malformed) {
    var reader = try PaperReader(greeting)
    try self.init(from: &reader)
  }

  init(from reader: inout PaperReader) throws(PaperReader.Malformed) {
    identifier = try reader.integer(UInt64.self)
    guard let encryption = MCEncryptionPreference(rawValue: Int(try reader.integer(UInt8.self))) else {
      throw PaperReader.Malformed()
    }
    self.encryption = encryption
    displayName = try reader.text(upTo: DisplayName.byteLimit)
    guard identifier != 0, !displayName.isEmpty else { throw PaperReader.Malformed() }
  }

  func write(to writer: inout PaperWriter) {
    writer.append(identifier)
    writer.append(UInt8(clamping: encryption.rawValue))
    writer.append(field: displayName.utf8)
  }

  var greeting: [UInt8] {
    var writer = PaperWriter()
    write(to: &writer)
    return writer.bytes
  }

  var peer: MCPeerID { MCPeerID(identifier: identifier, displayName: displayName) }

  /// Returns whether two sessions with these preferences may connect: one that insists on encryption does not connect
  /// to one that refuses it, as with Apple's.
  static func fit(_ one: MCEncryptionPreference, _ other: MCEncryptionPreference) -> Bool {
    !(one == .required && other == .none) && !(one == .none && other == .required)
  }
}
