import PiconetEngine
import PiconetWire

/// A secured connection between two nodes, as both drivers and the medium see it. Side 0 dialled.
final class Connection {
  enum State {
    /// The handshake is not complete on this side.
    case opening
    case open
    /// Closed by the engine, or its driver was told of the end.
    case closed
  }

  struct End {
    let node: Int
    /// The life of the node that it belongs to. No node owns a crashed node's connections.
    let life: Int
    var link: LinkID?
    var state = State.opening
    /// The key that a hostile node shows here in place of its own.
    var key: PeerID?
    /// The number of bytes sent here without the engine's knowledge.
    var surplus = 0
  }

  let number: Int
  let kind: TransportKind
  var ends: [End]
  /// The pipes of both directions. Pipe 0 leads from side 0 to side 1.
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

/// A dial under way.
struct PendingDial {
  let node: Int
  let life: Int
  let dial: DialID
  let kind: TransportKind
  var isOver = false
}

/// The outcome of a dial.
enum DialOutcome {
  case answered(by: Int)
  case failed(LinkFailure)
}
