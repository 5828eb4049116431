import PiconetWire
import Testing

@testable import PiconetEngine

/// The end of a transfer from either side in every order, with its number used again at once.
@Suite("Transfers in every order")
struct TransferOrdersTests {
  /// The sender: o(ffer), c(ancel the last), f(ail the source of the last). The receiver: a(ccept the last offer),
  /// d(ecline it), c(ancel it), f(ail its store).
  static let scripts = [
    "o|a", "o|d", "o|c", "o|f", "oc|a", "oc|d", "oc|c", "oc|f", "of|a", "oc|ac", "oc|af", "o|ac", "o|af", "oco|a",
    "oco|ad", "oco|da", "oco|ca", "oco|aa", "oo|aa", "oo|da", "oo|ca", "ooc|ad", "ocoo|a", "ooc|ac",
  ]

  private func perform(_ letter: Character, _ id: UInt64) -> (Side) -> Void {
    let number = TransferID(rawValue: id)
    let far = node(9)
    switch letter {
    case "o":
      let offer = ResourceOffer(name: [UInt8(id)], size: 2_500)
      return { $0.command(.offer(number, to: far, offer), id: id) }
    case "c": return { $0.command(.cancelTransfer(TransferID(rawValue: id - 1), .cancelled), id: id) }
    default: return { $0.take(.sourceFailed(TransferID(rawValue: id - 1), .sourceChanged, detail: "")) }
    }
  }

  private func answer(_ letter: Character, _ id: UInt64) -> (Side) -> Void {
    { side in
      let offers = side.log.events.compactMap { event -> TransferID? in
        if case .offerReceived(let transfer, _, _) = event { return transfer }
        return nil
      }
      let last = offers.last ?? TransferID(rawValue: .max)
      switch letter {
      case "a": side.command(.acceptOffer(last, offset: 0), id: id)
      case "d": side.command(.declineOffer(last, .notWanted, detail: ""), id: id)
      case "c": side.command(.cancelTransfer(last, .cancelled), id: id)
      default: side.take(.storeFailed(last, .diskFull, detail: ""))
      }
    }
  }

  private func world(_ script: String, transferLimit: Int) -> TwoSided {
    let limits = configuration {
      $0.frameLimit = 1_024
      $0.transferLimit = transferLimit
    }
    let two = TwoSided(limits, limits).connected()
    // The last step of the store may cross what the sender does.
    two.sides[1].answersCommit = false
    let parts = script.split(separator: "|").map { Array($0) }
    two.scripts[0] = parts[0].enumerated().map { perform($1, UInt64($0 + 1)) }
    two.scripts[1] = parts[1].enumerated().map { answer($1, UInt64($0 + 1)) }
    return two
  }

  private func fault(_ two: TwoSided, _ script: String) -> String? {
    if two.isBreached { return "a rule was broken" }
    guard two.sides[0].census.members == 1, two.sides[1].census.members == 1 else { return "they are not connected" }
    let parts = script.split(separator: "|").map { Array($0) }
    let (sender, receiver) = (two.sides[0], two.sides[1])
    // Offers that the receiver never answered may wait; nothing else may.
    let offered = receiver.incoming.filter { $0.phase == .offered }.count
    guard receiver.incoming.count == offered else { return "the receiver holds \(receiver.incoming.map(\.id))" }
    let waiting = sender.outgoing.filter { $0.phase == .offered || $0.phase == .waiting }.count
    guard sender.outgoing.count == waiting else { return "the sender holds \(sender.outgoing.map(\.id))" }
    guard sender.outgoing.filter({ $0.phase == .offered }).count == offered else {
      return "they disagree on what is offered"
    }
    for (place, letter) in parts[0].enumerated() where letter != "f" {
      let id = UInt64(place + 1)
      let replies = sender.log.replies(to: id).count
      let isOpen = sender.outgoing.contains { $0.id == TransferID(rawValue: id) }
      guard replies == (isOpen && letter == "o" ? 0 : 1) else { return "\(letter)\(id) has \(replies) replies" }
      let closings = sender.log.effects.count { $0 == .closeSource(TransferID(rawValue: id)) }
      guard letter != "o" || closings == (isOpen ? 0 : 1) else { return "source \(id) was closed \(closings) times" }
    }
    for (place, letter) in parts[1].enumerated() where letter != "f" {
      guard receiver.log.replies(to: UInt64(place + 1)).count == 1 else { return "\(letter) has no single reply" }
    }
    var stored = 0
    for case .offerReceived(let transfer, _, _) in receiver.log.events {
      let ends = receiver.log.events.compactMap { event -> Ending?? in
        if case .transferEnded(transfer, let ending) = event { return ending }
        return nil
      }
      let isOpen = receiver.incoming.contains { $0.id == transfer }
      guard ends.count == (isOpen ? 0 : 1) else { return "\(transfer) ended \(ends.count) times" }
      if let end = ends.first, end == nil { stored += 1 }
    }
    let told = sender.log.effects.count { if case .reply(_, .stored) = $0 { true } else { false } }
    // A sender that gives up while the store commits may miss that the file is stored, never the other way round.
    return told <= stored ? nil : "\(told) stored for the sender, \(stored) for the receiver"
  }

  @Test("each side sees one outcome, and numbers are taken again in safety", arguments: scripts)
  func outcomes(script: String) {
    // With room for one transfer a second offer waits for the end of the first.
    let hasSeveral = script.filter { $0 == "o" }.count > 1
    for limit in hasSeveral ? [1, 64] : [64] {
      #expect(TwoSided.inEveryOrder(of: { world(script, transferLimit: limit) }, fault: { fault($0, script) }) >= 1)
    }
  }
}
