import PiconetEngine
import PiconetWire

/// A secured connection between two nodes, as both drivers and the medium see it. Side 0 dialled.
final class Connection {
  enum State {
    /// The handshake is not done on this side.
    case opening
    case open
    /// Closed by the engine, or its driver was told of the end.
    case closed
  }

  struct End {
    let node: Int
    /// Which life of the node it belongs to: a crashed node's connections belong to nobody.
    let life: Int
    var link: LinkID?
    var state = State.opening
    /// The key that a hostile node shows here in place of its own.
    var key: PeerID?
    /// Bytes sent here that the engine does not know of.
    var surplus = 0
  }

  let number: Int
  let kind: TransportKind
  var ends: [End]
  /// Pipe 0 leads from side 0 to side 1.
  var pipes: [Pipe]

  init(number: Int, kind: TransportKind, ends: [End], pipes: [Pipe]) {
    self.number = number
    self.kind = kind
    self.ends = ends
    self.pipes = pipes
  }

  var isOver: Bool { ends[0].state == .closed && ends[1].state == .closed }
  var isOpen: Bool { ends[0].state == .open && ends[1].state == .open }
}

/// A dial on its way.
struct PendingDial {
  let node: Int
  let life: Int
  let dial: DialID
  let kind: TransportKind
  var isOver = false
}

/// What the outcome of a dial will be, and when.
enum DialOutcome {
  case answered(by: Int)
  case failed(LinkFailure)
}
