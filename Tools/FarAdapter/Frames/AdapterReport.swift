import PiconetEngine
import PiconetWire

/// What the agent tells a test.
enum AdapterReport: Hashable {
  /// The answer to `AdapterOrder.open`: which of the wanted parts there are.
  case opened(kinds: [TransportKind], discovery: String?)
  /// Why the agent ends the connection; the last.
  case refused(String)
  /// The answer to `AdapterOrder.listen`.
  case listening(TransportKind, FarListeningPlace)
  case notListening(TransportKind, LinkFailure)
  /// Where it listens has changed on its own, or listening may work now.
  case listeningChanged(TransportKind, FarListeningPlace)
  case dialled(UInt64, link: UInt64, LinkTraits)
  case dialFailed(UInt64, LinkFailure)
  case accepted(link: UInt64, LinkTraits)
  case received(UInt64, Bytes)
  /// This many bytes of a link are with the agent's kernel, and as many more may be sent.
  case written(UInt64, Int)
  /// The remote side has ended a link; nil: in good order.
  case ended(UInt64, LinkFailure?)
  case discovered(DiscoveryReport)
  case paging(Bool)
  /// The answer to `AdapterOrder.shutDown`; the last.
  case shutDown
}

/// Where a transport listens; without a port it does not.
struct FarListeningPlace: Hashable {
  var port: UInt16?
  var addresses: [TransportAddress]
}

extension FarListeningPlace: RelayCoded {
  func write(to bytes: inout RelayBytes) { bytes(port, addresses) }
  static func read(from reader: inout RelayReader) throws(RelayError) -> FarListeningPlace {
    FarListeningPlace(port: try reader(), addresses: try reader())
  }
}

extension AdapterReport: RelayCoded {
  private enum Tag: UInt8 {
    case opened, refused, listening, notListening, listeningChanged, dialled, dialFailed, accepted, received, written
    case ended, discovered, paging, shutDown
  }

  func write(to bytes: inout RelayBytes) {
    switch self {
    case .opened(let kinds, let discovery): bytes(Tag.opened, kinds, discovery)
    case .refused(let reason): bytes(Tag.refused, reason)
    case .listening(let kind, let place): bytes(Tag.listening, kind, place)
    case .notListening(let kind, let failure): bytes(Tag.notListening, kind, failure)
    case .listeningChanged(let kind, let place): bytes(Tag.listeningChanged, kind, place)
    case .dialled(let dial, let link, let traits): bytes(Tag.dialled, dial, link, traits)
    case .dialFailed(let dial, let failure): bytes(Tag.dialFailed, dial, failure)
    case .accepted(let link, let traits): bytes(Tag.accepted, link, traits)
    case .received(let link, let piece): bytes(Tag.received, link, piece)
    case .written(let link, let count): bytes(Tag.written, link, count)
    case .ended(let link, let failure): bytes(Tag.ended, link, failure)
    case .discovered(let report): bytes(Tag.discovered, report)
    case .paging(let isOn): bytes(Tag.paging, isOn)
    case .shutDown: bytes(Tag.shutDown)
    }
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> AdapterReport {
    switch try reader.tag(Tag.self) {
    case .opened: .opened(kinds: try reader(), discovery: try reader())
    case .refused: .refused(try reader())
    case .listening: .listening(try reader(), try reader())
    case .notListening: .notListening(try reader(), try reader())
    case .listeningChanged: .listeningChanged(try reader(), try reader())
    case .dialled: .dialled(try reader(), link: try reader(), try reader())
    case .dialFailed: .dialFailed(try reader(), try reader())
    case .accepted: .accepted(link: try reader(), try reader())
    case .received: .received(try reader(), try reader())
    case .written: .written(try reader(), try reader())
    case .ended: .ended(try reader(), try reader())
    case .discovered: .discovered(try reader())
    case .paging: .paging(try reader())
    case .shutDown: .shutDown
    }
  }
}
