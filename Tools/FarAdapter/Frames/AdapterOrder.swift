import PiconetEngine
import PiconetWire

/// What a test tells the agent to do. The test numbers dials, the agent numbers links.
enum AdapterOrder: Hashable {
  /// The first of a connection, and only the first.
  case open(AdapterOpening)
  /// Answered by `AdapterReport.listening`.
  case listen(TransportKind)
  case stopListening(TransportKind)
  /// Ends with one `AdapterReport.dialled`, cancelled or not.
  case dial(UInt64, TransportKind, [TransportAddress])
  case cancelDial(UInt64)
  /// Bytes for a link, within its window.
  case write(UInt64, Bytes)
  /// This many bytes of a link were read, and as many more may come.
  case taken(UInt64, Int)
  case close(UInt64, abort: Bool)
  case advertise(NodeAdvertisement?)
  case search(sessionID: String?)
  case setRadioBusy(Bool)
  case setExpecting(Bool)
  /// Whether the adapter answers to paging; answered by `AdapterReport.paging`.
  case askPaging
  /// Everything ends; answered by `AdapterReport.shutDown`, the last.
  case shutDown
}

extension AdapterOrder: RelayCoded {
  private enum Tag: UInt8 {
    case open, listen, stopListening, dial, cancelDial, write, taken, close, advertise, search, setRadioBusy, askPaging
    case shutDown, setExpecting
  }

  func write(to bytes: inout RelayBytes) {
    switch self {
    case .open(let opening): bytes(Tag.open, opening)
    case .listen(let kind): bytes(Tag.listen, kind)
    case .stopListening(let kind): bytes(Tag.stopListening, kind)
    case .dial(let dial, let kind, let addresses): bytes(Tag.dial, dial, kind, addresses)
    case .cancelDial(let dial): bytes(Tag.cancelDial, dial)
    case .write(let link, let piece): bytes(Tag.write, link, piece)
    case .taken(let link, let count): bytes(Tag.taken, link, count)
    case .close(let link, let abort): bytes(Tag.close, link, abort)
    case .advertise(let advertisement): bytes(Tag.advertise, advertisement)
    case .search(let sessionID): bytes(Tag.search, sessionID)
    case .setRadioBusy(let isBusy): bytes(Tag.setRadioBusy, isBusy)
    case .setExpecting(let isExpecting): bytes(Tag.setExpecting, isExpecting)
    case .askPaging: bytes(Tag.askPaging)
    case .shutDown: bytes(Tag.shutDown)
    }
  }
  static func read(from reader: inout RelayReader) throws(RelayError) -> AdapterOrder {
    switch try reader.tag(Tag.self) {
    case .open: .open(try reader())
    case .listen: .listen(try reader())
    case .stopListening: .stopListening(try reader())
    case .dial: .dial(try reader(), try reader(), try reader())
    case .cancelDial: .cancelDial(try reader())
    case .write: .write(try reader(), try reader())
    case .taken: .taken(try reader(), try reader())
    case .close: .close(try reader(), abort: try reader())
    case .advertise: .advertise(try reader())
    case .search: .search(sessionID: try reader())
    case .setRadioBusy: .setRadioBusy(try reader())
    case .setExpecting: .setExpecting(try reader())
    case .askPaging: .askPaging
    case .shutDown: .shutDown
    }
  }
}
