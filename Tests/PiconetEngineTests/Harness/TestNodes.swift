import PiconetEngine
import PiconetWire

/// A peer whose id is one byte 32 times: the order of the bytes is the order of the peers.
func peer(_ byte: UInt8) -> PeerID {
  PeerID(bytes: [UInt8](repeating: byte, count: PeerID.byteCount))!
}

func node(_ byte: UInt8) -> NodeID {
  NodeID(peer: peer(byte), incarnation: Incarnation(rawValue: UInt64(byte)))
}

func configuration(_ change: (inout EngineConfiguration) -> Void = { _ in }) -> EngineConfiguration {
  var configuration = EngineConfiguration(sessionID: "test", name: "a device")
  change(&configuration)
  return configuration
}

func bytes(_ count: Int, of byte: UInt8 = 7) -> Bytes { [UInt8](repeating: byte, count: count)[...] }

func tcp(_ text: String) -> TransportAddress { TransportAddress(kind: .tcp, text: text) }

let someNonce = [UInt8](repeating: 3, count: Invite.nonceCount)
/// Stands for a hash.
func commitment(to nonce: [UInt8]) -> [UInt8] { nonce.map { $0 ^ 0xFF } }
/// The commitment to `someNonce`.
let someCommitment = commitment(to: someNonce)
let someDigest = ResourceDigest(sha256: [UInt8](repeating: 5, count: ResourceDigest.byteCount))!
let someTraits = LinkTraits(kind: .tcp, remoteAddress: "far")

func seconds(_ count: UInt64) -> Instant { Instant(nanoseconds: count * 1_000_000_000) }
