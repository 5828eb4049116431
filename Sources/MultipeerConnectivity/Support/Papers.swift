import Piconet

/// The data that an inviter's browser hands the invited advertiser: the inviter, and the session.
struct InvitationPaper: Sendable, Equatable {
  /// The longest context of a program, in bytes: what is left of the 8,192 bytes that an invitation carries.
  static let contextLimit = 7_936

  var card: PeerCard
  /// The key of the inviting session's node.
  var fingerprint: PeerID
  var ticket: Ticket
  /// How long the inviter waits, in seconds.
  var patience: UInt32
  /// Nil if the program gave none.
  var context: [UInt8]?

  init(card: PeerCard, fingerprint: PeerID, ticket: Ticket, patience: UInt32, context: [UInt8]?) {
    self.card = card
    self.fingerprint = fingerprint
    self.ticket = ticket
    self.patience = patience
    self.context = context
  }

  init(_ bytes: [UInt8]) throws(PaperReader.Malformed) {
    var reader = try PaperReader(bytes)
    card = try PeerCard(from: &reader)
    fingerprint = try PeerID(from: &reader)
    ticket = try Ticket(from: &reader)
    patience = try reader.integer(UInt32.self)
    let hasContext = try reader.integer(UInt8.self) != 0
    let field = try reader.field(upTo: Self.contextLimit)
    context = hasContext ? field : nil
  }

  var bytes: [UInt8] {
    var writer = PaperWriter()
    card.write(to: &writer)
    writer.append(field: fingerprint.bytes)
    ticket.write(to: &writer)
    writer.append(patience)
    writer.append(UInt8(context == nil ? 0 : 1))
    writer.append(field: context ?? [])
    return writer.bytes
  }
}

/// The place where a session's node is reached: the answer to an accepted invitation, and the data of custom discovery.
struct MeetingPlace: Sendable, Equatable {
  static let addressLimit = 16
  static let addressByteLimit = 128

  var card: PeerCard
  /// The key of the node.
  var fingerprint: PeerID
  /// The ticket that a node has to show when it connects there.
  var ticket: Ticket
  var addresses: [TransportAddress]

  init(card: PeerCard, fingerprint: PeerID, ticket: Ticket, addresses: [TransportAddress]) {
    self.card = card
    self.fingerprint = fingerprint
    self.ticket = ticket
    self.addresses = Array(addresses.filter { $0.text.utf8.count <= Self.addressByteLimit }.prefix(Self.addressLimit))
  }

  init(_ bytes: some Sequence<UInt8>) throws(PaperReader.Malformed) {
    var reader = try PaperReader(bytes)
    card = try PeerCard(from: &reader)
    fingerprint = try PeerID(from: &reader)
    ticket = try Ticket(from: &reader)
    let count = try reader.integer(UInt8.self)
    guard count <= Self.addressLimit else { throw PaperReader.Malformed() }
    addresses = []
    for _ in 0..<count {
      let kind = TransportKind(rawValue: try reader.text(upTo: 16))
      let text = try reader.text(upTo: Self.addressByteLimit)
      // An address of a kind that this version does not know is left out.
      if let kind { addresses.append(TransportAddress(kind: kind, text: text)) }
    }
  }

  var bytes: [UInt8] {
    var writer = PaperWriter()
    card.write(to: &writer)
    writer.append(field: fingerprint.bytes)
    ticket.write(to: &writer)
    writer.append(UInt8(addresses.count))
    for address in addresses {
      writer.append(field: address.kind.rawValue.utf8)
      writer.append(field: address.text.utf8)
    }
    return writer.bytes
  }

  /// Returns the addresses of this place at the host that a connection led to: a peer can't make this node dial any
  /// other host.
  /// - Parameters:
  ///   - host: the remote end, as `ProvenMember.remoteHost` has it.
  ///   - kind: the transport of the connection.
  func at(host: String, over kind: TransportKind) -> [TransportAddress] {
    var places: [TransportAddress] = []
    for address in addresses where kind.kindsAtSameHost.contains(address.kind) {
      guard let position = address.text.lastIndex(of: address.kind.portSeparator) else { continue }
      let place = TransportAddress(kind: address.kind, text: host + String(address.text[position...]))
      if !places.contains(place) { places.append(place) }
    }
    return places
  }
}

extension PeerID {
  fileprivate init(from reader: inout PaperReader) throws(PaperReader.Malformed) {
    guard let peer = PeerID(bytes: try reader.field(upTo: PeerID.byteCount)) else { throw PaperReader.Malformed() }
    self = peer
  }
}
