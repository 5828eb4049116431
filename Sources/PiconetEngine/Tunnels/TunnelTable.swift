import PiconetWire

/// The tunnels of one association, by their numbers on the wire, and the queue in which they take turns.
///
/// The smaller node chooses even numbers and the larger one odd ones, so that a number names one tunnel whichever side
/// sends it.
struct TunnelTable {
  private var tunnels: [UInt64: Tunnel] = [:]
  private let ownParity: UInt64
  private var queue = FirstInFirstOut<UInt64>()
  /// Tunnels whose credit the other side must be told.
  private var creditsDue: Set<UInt64> = []

  init(isSmaller: Bool) { ownParity = isSmaller ? 0 : 1 }

  var isEmpty: Bool { tunnels.isEmpty }
  var count: Int { tunnels.count }
  /// Returns how many tunnels were opened by this side, or by the other.
  func count(ours: Bool) -> Int { tunnels.values.count { $0.isOurs == ours } }
  /// Returns how many tunnels we have opened to this member to relay those of this key.
  func count(ledFor key: PeerID) -> Int {
    tunnels.values.count { tunnel in
      if tunnel.isOurs, case .relayed(let place)? = tunnel.end { place.node.peer == key } else { false }
    }
  }
  var hasTurns: Bool { !queue.isEmpty }
  var hasCredits: Bool { !creditsDue.isEmpty }
  var queuedCount: Int { tunnels.values.reduce(0) { $0 + $1.queuedCount } }
  var numbers: [UInt64] { tunnels.keys.sorted() }

  /// Whether there is a tunnel that ends here, or that may yet end here.
  var hasOwn: Bool { tunnels.values.contains { !$0.isRelayed && !$0.isClosed } }

  subscript(number: UInt64) -> Tunnel? { tunnels[number] }

  /// Returns whether the other side chooses this number.
  func isRemote(_ number: UInt64) -> Bool { number & 1 != ownParity }

  mutating func append(_ tunnel: Tunnel) { tunnels[tunnel.number] = tunnel }

  /// - Returns: the smallest free number of our own; nil if as many tunnels are open as allowed.
  func freeNumber() -> UInt64? {
    guard count(ours: true) < WireLimits.tunnels else { return nil }
    return stride(from: ownParity, to: WireLimits.tunnelNumbers, by: 2).first { tunnels[$0] == nil }
  }

  mutating func forget(_ number: UInt64) {
    tunnels[number] = nil
    creditsDue.remove(number)
  }

  mutating func removeAll() {
    tunnels = [:]
    creditsDue = []
    queue.removeAll()
  }

  // MARK: Turns

  /// Puts a tunnel that has changed into the queue if it has something to send.
  mutating func enqueue(_ tunnel: Tunnel) {
    guard !tunnel.isQueued, tunnel.hasSomething else { return }
    tunnel.setQueued(true)
    queue.append(tunnel.number)
  }

  /// Writes frames of one tunnel after the other, a turn each, until nothing is left or nothing more fits.
  /// - Returns: sequenced frames written, and the bytes of each tunnel that have left its queue.
  mutating func frame(into bytes: inout [UInt8], room: Int, frameLimit: Int) -> (
    frames: UInt64, taken: [(tunnel: Tunnel, count: Int)]
  ) {
    var frames: UInt64 = 0
    var taken: [(tunnel: Tunnel, count: Int)] = []
    let end = bytes.count + room
    while let number = queue.first {
      // Its number may have been given to another tunnel meanwhile, which then has the turn.
      guard let tunnel = tunnels[number], tunnel.isQueued else {
        _ = queue.popFirst()
        continue
      }
      if tunnel.hasHadTurn {
        tunnel.endTurn()
        _ = queue.popFirst()
        queue.append(number)
        continue
      }
      let turn = tunnel.takeTurn(into: &bytes, room: end - bytes.count, frameLimit: frameLimit)
      frames += turn.frames
      if turn.count > 0 {
        if taken.last?.tunnel === tunnel {
          taken[taken.count - 1].count += turn.count
        } else {
          taken.append((tunnel, turn.count))
        }
      }
      if turn.lacksRoom { break }
      if tunnel.hasSomething { continue }
      _ = queue.popFirst()
      tunnel.setQueued(false)
    }
    return (frames, taken)
  }

  // MARK: Credit

  mutating func oweCredit(of number: UInt64) { creditsDue.insert(number) }

  /// Makes the next flush state the credits again, on a new link.
  mutating func restateCredits() {
    for tunnel in tunnels.values where tunnel.givesCredit && tunnel.hasGranted { creditsDue.insert(tunnel.number) }
  }

  mutating func appendCredits(into bytes: inout [UInt8]) {
    for number in creditsDue.sorted() {
      guard let tunnel = tunnels[number], tunnel.givesCredit else { continue }
      let (consumed, limit) = tunnel.grant()
      FrameEncoder.append(.tunnelCredit(tunnel: number, consumed: consumed, limit: limit), to: &bytes)
    }
    creditsDue.removeAll(keepingCapacity: true)
  }
}
