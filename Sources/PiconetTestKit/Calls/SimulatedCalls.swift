import PiconetCalls
import PiconetEngine
import PiconetWire

/// The calls between a node and one of its members: the machine that decides, and the parts of an actor system around
/// it.
struct SimulatedCalls {
  /// A call that is being served.
  struct Running {
    /// The number of the call; nil for a hostile caller.
    let truth: Int?
    var wasStopped = false
  }

  var machine: PeerCalls
  /// The membership that it belongs to.
  let association: AssociationID
  /// A number that differs from all others of the world.
  let serial: Int
  var lastNumber: UInt64
  /// Calls of this node without an answer.
  var made: [UInt64: Int] = [:]
  var running: [UInt64: Running] = [:]
  /// Frames that wait for room, in each channel.
  var waiting: [MessageChannel: FrameQueue]
  /// When its timer fires.
  var timerAt: Duration?

  /// - Parameter messageLimit: the longest message that the member takes.
  init(
    _ instance: UInt64, _ association: AssociationID, serial: Int, firstNumber: UInt64, messageLimit: Int
  ) {
    machine = PeerCalls(
      instance: instance, own: Self.limits, argumentLimit: Self.argumentLimit, resultLimit: Self.resultLimit)
    self.association = association
    self.serial = serial
    lastNumber = firstNumber
    let queue = FrameQueue(partSize: min(messageLimit, 65_536) - 32)
    waiting = [Self.channel: queue, Self.longChannel: queue]
  }

  /// The bytes of answers that wait for room.
  var waitingResults: Int { waiting[Self.longChannel]?.bytes ?? 0 }

  static let channel: MessageChannel = 62
  static let longChannel: MessageChannel = 63
  static let channels: [MessageChannel] = [channel, longChannel]

  static let limits = CallLimits(frame: 80_000, calls: 16)
  static let argumentLimit = 150_000
  static let resultLimit = 100_000
}

/// The truth about every call of a run.
struct CallTruths {
  struct Truth {
    let from: NodeID
    let to: NodeID
    let association: AssociationID
    let made: Duration
    let deadline: Duration
    let size: Int
    var served = 0
    /// When its answer was sent.
    var answered: Duration?
    var outcome: PeerCalls.Answer?
    var isTakenBack = false
    /// Whether its caller is gone with a crash, so that the call has no waiting caller.
    var isVoid = false
  }

  private(set) var all: [Truth] = []
  /// Nodes whose actor systems have stopped and started again.
  var remade: Set<NodeID> = []
  var lastSerial = 0

  var count: Int { all.count }

  subscript(number: Int) -> Truth {
    get { all[number] }
    set { all[number] = newValue }
  }

  mutating func add(_ truth: Truth) -> Int {
    all.append(truth)
    return all.count - 1
  }

  mutating func crashed(_ node: NodeID) {
    for number in all.indices where all[number].from == node && all[number].outcome == nil { all[number].isVoid = true }
  }

  /// Returns the arguments of a call: its number and this many bytes.
  static func arguments(_ number: Int, size: Int) -> [UInt8] {
    CBORValue.array([.unsigned(UInt64(number)), .bytes([UInt8](repeating: UInt8(number & 0xFF), count: size))]).encoded
  }

  /// Returns the result of a call. It is long from time to time, and sometimes above the caller's limit.
  static func result(_ number: Int) -> [UInt8] {
    let size = number % 7 == 0 ? 20_000 : number % 31 == 0 ? 90_000 : number % 5
    return CBORValue.array([.unsigned(UInt64(number * 3 + 1)), .bytes([UInt8](repeating: 7, count: size))]).encoded
  }

  /// Returns the number of the call with these arguments; nil if no call has them.
  func number(of arguments: some Collection<UInt8>) -> Int? {
    guard case .array(let items)? = try? CBORValue(decoding: Array(arguments)), case .unsigned(let word)? = items.first,
      word < UInt64(all.count), arguments.elementsEqual(Self.arguments(Int(word), size: all[Int(word)].size))
    else { return nil }
    return Int(word)
  }
}
