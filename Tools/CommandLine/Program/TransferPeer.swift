import Piconet

/// A peer to which files go or from which they come.
struct TransferPeer: Hashable, Sendable {
  /// Unique, since two programs on one device share a key.
  let id: String
  /// 64 hexadecimal digits.
  let fingerprint: String
  /// The name for a person here; may be the peer's own words.
  let name: String

  init(id: String, fingerprint: String, name: String) {
    (self.id, self.fingerprint, self.name) = (id, fingerprint, name)
  }

  init(_ member: ProvenMember) {
    fingerprint = member.fingerprint.description
    id = "\(fingerprint)/\(member.id.incarnation)"
    name = member.petname
  }
}
