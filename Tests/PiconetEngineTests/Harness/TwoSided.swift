import PiconetWire
import Testing

@testable import PiconetEngine

/// Two engines, links between them that keep the order of what they carry, and a script for each: the caller chooses
/// what happens next.
final class TwoSided {
  enum Item {
    case opened(LinkOpening)
    case bytes(Bytes)
    case closed
    case failed
  }

  /// The first has the smaller id.
  let sides: [Side]
  private var channels: [[UInt64: [Item]]] = [[:], [:]]
  /// What each side does, in order.
  var scripts: [[(Side) -> Void]] = [[], []]
  /// What a side does at once when it is told something.
  var reactions: [(Side, Event) -> Fact?] = [{ _, _ in nil }, { _, _ in nil }]
  private var closed: [Set<UInt64>] = [[], []]
  private var dead: Set<UInt64> = []
  private var seen = [0, 0]
  private var dials = [0, 0]

  private static let script = 0
  private static let answers = 1

  init(_ first: EngineConfiguration = configuration(), _ second: EngineConfiguration = configuration()) {
    sides = [Side(node(1), first, seed: 1), Side(node(9), second, seed: 2)]
  }

  /// What can happen now.
  var choices: [Choice] {
    var choices: [Choice] = []
    for side in 0...1 {
      if !scripts[side].isEmpty { choices.append(Choice(side: side, source: Self.script)) }
      if sides[side].hasUnanswered { choices.append(Choice(side: side, source: Self.answers)) }
      for link in channels[side].keys.sorted() where channels[side][link]?.isEmpty == false {
        choices.append(Choice(side: side, source: Int(link)))
      }
    }
    return choices
  }

  func perform(_ choice: Choice) {
    let side = sides[choice.side]
    switch choice.source {
    case Self.script: scripts[choice.side].removeFirst()(side)
    case Self.answers:
      if let effect = side.takeUnanswered(), let fact = side.fact(answering: effect) { side.take(fact) }
    default:
      let link = UInt64(choice.source)
      switch channels[choice.side][link]?.removeFirst() {
      case .opened(let opening): side.take(.linkOpened(LinkID(rawValue: link), opening))
      case .bytes(let bytes): side.take(.received(LinkID(rawValue: link), bytes))
      case .closed: side.take(.linkClosed(LinkID(rawValue: link), .ended))
      case .failed: side.take(.linkClosed(LinkID(rawValue: link), .failed(LinkFailure(.reset))))
      case nil: break
      }
    }
    for side in 0...1 { deliver(from: side) }
  }

  /// Lets things happen in every order, each in a world of its own, until nothing is left, and has each world judged.
  /// - Returns: how many orders there were; 0 after the first fault, which is recorded with its order.
  static func inEveryOrder(
    limit: Int = 5_000, of make: () -> TwoSided, _ sourceLocation: SourceLocation = #_sourceLocation,
    fault: (TwoSided) -> String?
  ) -> Int {
    struct Found: Error {}
    do {
      let orders = try Interleavings.forEach(limit: limit) { orders in
        let two = make()
        var order: [Choice] = []
        while let choice = orders.pick(two.choices) {
          order.append(choice)
          two.perform(choice)
        }
        if !orders.isRedundant, let fault = fault(two) {
          Issue.record("\(fault); order:\(make().describe(order))", sourceLocation: sourceLocation)
          throw Found()
        }
      }
      if orders == nil { Issue.record("more than \(limit) orders", sourceLocation: sourceLocation) }
      return orders ?? 0
    } catch { return 0 }
  }

  /// Performs the choices again and says what each was.
  private func describe(_ order: [Choice]) -> String {
    order.reduce(into: "") { text, choice in
      text += " \(choice.side == 0 ? "small" : "large"):\(describe(choice))"
      perform(choice)
    }
  }

  private func describe(_ choice: Choice) -> String {
    switch choice.source {
    case Self.script: return "own"
    case Self.answers: return "answer"
    default:
      guard case .bytes(let bytes)? = channels[choice.side][UInt64(choice.source)]?.first else {
        return "link\(choice.source)"
      }
      var decoder = FrameDecoder(frameLimit: WireLimits.largestFrame)
      decoder.push(bytes)
      var names = ""
      while let frame = try? decoder.next() { names += "(\("\(frame)".prefix { $0 != "(" }))" }
      return "link\(choice.source)\(names)"
    }
  }

  /// Lets things happen in any order until nothing is left.
  func settle() {
    for side in 0...1 { deliver(from: side) }
    while let choice = choices.first { perform(choice) }
  }

  /// Lets things happen in an order that a seed draws.
  func run(_ random: inout SeededRandom) {
    while let choice = choices.randomElement(using: &random) { perform(choice) }
  }

  /// Carries what one side has given out, and lets its application react.
  private func deliver(from index: Int) {
    let side = sides[index]
    while seen[index] < side.log.effects.count {
      let effect = side.log.effects[seen[index]]
      seen[index] += 1
      switch effect {
      case .transmit(let link, let bytes): push(.bytes(bytes), on: link.rawValue, to: 1 - index)
      case .closeLink(let link, _):
        closed[index].insert(link.rawValue)
        channels[index][link.rawValue] = nil
        push(.closed, on: link.rawValue, to: 1 - index)
      case .dial(let dial, let kind, _): connect(dial, kind, from: index)
      case .deliver(let event): if let fact = reactions[index](side, event) { side.take(fact) }
      default: break
      }
    }
  }

  /// Every link dies, with all that is on its way; the sides that are told learn of it next.
  func cutAll(told: [Int]) {
    for side in 0...1 {
      for link in sides[side].engine.links.keys.map(\.rawValue) {
        channels[side][link] = told.contains(side) ? [.failed] : nil
        dead.insert(link)
      }
    }
  }

  private func push(_ item: Item, on link: UInt64, to side: Int) {
    if !closed[side].contains(link), !dead.contains(link) { channels[side][link, default: []].append(item) }
  }

  private func connect(_ dial: DialID, _ kind: TransportKind, from index: Int) {
    dials[index] += 1
    let link = UInt64(10 + 2 * dials[index] + index)
    let traits = LinkTraits(kind: kind, remoteAddress: "far")
    for side in [index, 1 - index] {
      push(
        .opened(
          LinkOpening(dial: side == index ? dial : nil, peer: sides[1 - side].node.peer, traits: traits)), on: link,
        to: side)
    }
  }

  private func forgetLogs() -> TwoSided {
    for side in sides { side.forgetLog() }
    seen = [0, 0]
    return self
  }

  // MARK: Beginnings

  func invite(from index: Int, id: UInt64, timeout: Duration = .seconds(30)) -> (Side) -> Void {
    let far = sides[1 - index].node.peer
    return { side in
      side.command(.invite(.addresses([tcp("far")], expected: far), context: [], timeout: timeout), id: id)
    }
  }

  /// Makes an association over one link, without membership.
  func associated() -> TwoSided {
    scripts[0] = [invite(from: 0, id: 900)]
    settle()
    sides[1].command(.answerInvitation(sides[0].node, accept: false, .declined))
    settle()
    return forgetLogs()
  }

  /// Makes both members.
  func connected() -> TwoSided {
    scripts[0] = [invite(from: 0, id: 900)]
    settle()
    sides[1].command(.answerInvitation(sides[0].node, accept: true, .declined))
    settle()
    return forgetLogs()
  }

  /// Whether either side has ended a link because the other broke a rule.
  var isBreached: Bool {
    sides.contains { side in
      side.log.frames.contains { frame in
        if case .close(let reason, _) = frame { return reason == .protocolBroken || reason == .limitExceeded }
        return false
      }
    }
  }
}
