import PiconetWire

/// A key that a person has accepted as a device's, with that person's statements about it.
public struct KnownPeer: Sendable, Hashable, Identifiable {
  /// The fingerprint, proven at every link.
  public var id: PeerID
  /// The petname: the person's name for it here, whatever the device calls itself.
  public var name: String
  /// When it was accepted, in seconds since 1970.
  public var since: Int64
  /// How the person came to accept the key as the device's.
  public var confirmation: PeerConfirmation
  /// The rights of the peer, each in one program or in any.
  public var rights: Set<PeerRight>
  /// Whether it is refused before any person is asked about it.
  public var isBlocked: Bool
  /// Addresses at which the person reached it, as written: another key there is refused.
  public var addresses: [String]

  /// Creates an entry as a person would make it; nothing in it is checked.
  public init(
    id: PeerID, name: String, since: Int64, confirmation: PeerConfirmation, rights: Set<PeerRight> = [],
    isBlocked: Bool = false, addresses: [String] = []
  ) {
    self.id = id
    self.name = name
    self.since = since
    self.confirmation = confirmation
    self.rights = rights
    self.isBlocked = isBlocked
    self.addresses = addresses
  }

  /// The most addresses of one peer; beyond it the oldest is dropped.
  public static let addressLimit = 8

  /// Returns whether the peer has the right in this program.
  public func may(_ action: PeerRight.Action, in program: String) -> Bool {
    !isBlocked && (rights.contains(PeerRight(action, program)) || rights.contains(PeerRight(action, nil)))
  }
}

extension KnownPeer {
  /// The line of the file, without its newline: fingerprint, name, since, confirmation, rights, addresses, separated by
  /// tabs.
  var line: [UInt8] {
    let words = (isBlocked ? ["blocked"] : []) + rights.map(\.description).sorted()
    let fields = [
      "\(id)", PeerNameEscaping.escape(name), "\(since)", confirmation.rawValue, Self.joined(words),
      Self.joined(addresses),
    ]
    return Array(fields.joined(separator: "\t").utf8)
  }

  /// Reads a line of the file.
  /// - Parameter version: 1: only fingerprint, name and time. Peers were then remembered without a person's
  ///   confirmation: one side had sent to the other, but no person had said that this may go on.
  init?(line: ArraySlice<UInt8>, version: Int) {
    let fields = line.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
    guard fields.count == (version == 1 ? 3 : 6),
      let id = PeerID(hexadecimal: String(decoding: fields[0], as: UTF8.self)),
      let escaped = String(validating: fields[1], as: UTF8.self), let name = PeerNameEscaping.unescape(escaped),
      let since = Int64(String(decoding: fields[2], as: UTF8.self))
    else { return nil }
    self.init(id: id, name: name, since: since, confirmation: .firstUse, rights: [PeerRight(.send, nil)])
    if version == 1 { return }
    guard let confirmation = PeerConfirmation(rawValue: String(decoding: fields[3], as: UTF8.self)),
      let words = Self.parted(fields[4]), let addresses = Self.parted(fields[5]), addresses.count <= Self.addressLimit,
      addresses.allSatisfy(Self.isAddress)
    else { return nil }
    self.confirmation = confirmation
    self.addresses = addresses
    rights = []
    for word in words {
      if word == "blocked" {
        isBlocked = true
      } else if let right = PeerRight(word) {
        rights.insert(right)
      } else {
        return nil
      }
    }
  }

  static func isAddress(_ text: String) -> Bool {
    !text.isEmpty && text != "-" && text.utf8.count <= 300 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }

  private static func joined(_ words: [String]) -> String { words.isEmpty ? "-" : words.joined(separator: " ") }

  private static func parted(_ field: ArraySlice<UInt8>) -> [String]? {
    if field.elementsEqual("-".utf8) { return [] }
    let words = field.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard words.allSatisfy({ !$0.isEmpty }) else { return nil }
    return words.map { String(decoding: $0, as: UTF8.self) }
  }
}
