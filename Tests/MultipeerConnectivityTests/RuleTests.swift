import Foundation
import Piconet
import Testing

@testable import MultipeerConnectivity

@Suite("Rules and papers")
struct RuleTests {
  @Test(
    "types of service: those of RFC 6335, in either case", arguments: ["a", "chat", "x-1", "MyApp", "abcdefghijklmno"])
  func goodTypes(type: String) { #expect(ServiceTypeRules.brokenRule(type) == nil) }

  @Test(
    "types of service that are refused",
    arguments: ["", "abcdefghijklmnop", "1-2", "-a", "a-", "a--b", "a_b", "ä", "a b"])
  func badTypes(type: String) { #expect(ServiceTypeRules.brokenRule(type) != nil) }

  @Test("a bad type, and bad info, are told to the delegates with the rule", .timeLimit(.minutes(5)))
  func didNotStart() async {
    let player = Player("Anna", "not_a_type")
    player.advertise()
    player.browse()
    let rule = "the service type 'not_a_type' may have letters of ASCII, digits and hyphens only"
    await player.sees("not advertised: \(rule)")
    await player.sees("not browsing: \(rule)")
    let other = Player("Ben", Player.serviceType())
    other.advertise(["a=b": "c"])
    await other.waits { $0.first?.hasPrefix("not advertised: ") == true }
    let third = Player("Carl", Player.serviceType())
    third.advertise(["a": String(repeating: "b", count: 300)])
    await third.waits { $0.first?.hasPrefix("not advertised: ") == true }
    for player in [player, other, third] { player.leave() }
  }

  private func papers() throws -> (InvitationPaper, MeetingPlace) {
    let peer = MCPeerID(displayName: "Anna")
    let fingerprint = try #require(PeerID(bytes: [UInt8](repeating: 7, count: 32)))
    let card = PeerCard(peer, .optional)
    return (
      InvitationPaper(card: card, fingerprint: fingerprint, ticket: Ticket(), patience: 30, context: [1, 2, 3]),
      MeetingPlace(
        card: card, fingerprint: fingerprint, ticket: Ticket(),
        addresses: [
          TransportAddress(kind: .tcp, text: "192.0.2.1:4000"),
          TransportAddress(kind: .l2cap, text: "00:11:22:33:44:55/0x1005"),
        ])
    )
  }

  @Test("papers are read as they were written, and cut ones are not")
  func roundTrips() throws {
    let (invitation, place) = try papers()
    #expect(try InvitationPaper(invitation.bytes) == invitation)
    #expect(try MeetingPlace(place.bytes) == place)
    #expect(try PeerCard(greeting: place.card.greeting) == place.card)
    for count in 0..<invitation.bytes.count {
      #expect(throws: PaperReader.Malformed.self) { try InvitationPaper(Array(invitation.bytes.prefix(count))) }
    }
    for count in 0..<place.bytes.count {
      #expect(throws: PaperReader.Malformed.self) { try MeetingPlace(place.bytes.prefix(count)) }
    }
    // What comes behind is a later version's.
    #expect(try MeetingPlace(place.bytes + [9, 9, 9]) == place)
  }

  @Test("arbitrary bytes are read or refused")
  func hostile() throws {
    let (invitation, place) = try papers()
    var generator = SystemRandomNumberGenerator()
    for original in [invitation.bytes, place.bytes, place.card.greeting] {
      for _ in 0..<2_000 {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &generator) {
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        _ = try? InvitationPaper(bytes)
        if let place = try? MeetingPlace(bytes) { #expect(place.addresses.count <= MeetingPlace.addressLimit) }
        if let card = try? PeerCard(greeting: bytes) { #expect(card.displayName.utf8.count <= 63) }
      }
    }
  }

  @Test("an answer leads nowhere but to the host that the connection led to")
  func host() throws {
    let (_, place) = try papers()
    #expect(place.at(host: "10.0.0.9", over: .tcp) == [TransportAddress(kind: .tcp, text: "10.0.0.9:4000")])
    #expect(
      place.at(host: "AA:BB:CC:DD:EE:FF", over: .rfcomm)
        == [TransportAddress(kind: .l2cap, text: "AA:BB:CC:DD:EE:FF/0x1005")])
    #expect(place.at(host: "AA:BB:CC:DD:EE:FF", over: .le) == [])
  }

  @Test("preferences about encryption fit unless one requires what the other refuses")
  func encryption() {
    let all: [MCEncryptionPreference] = [.optional, .required, .none]
    for one in all {
      for other in all {
        #expect(PeerCard.fit(one, other) == (Set([one, other]) != [.required, .none]))
      }
    }
  }

  @Test("errors are caught by their code, equal by their values, and have their words")
  func errors() {
    let error: any Error = MCError(.timedOut, userInfo: [NSLocalizedDescriptionKey: "too late"])
    switch error {
    case MCError.notConnected: Issue.record("another code")
    case MCError.timedOut: break
    default: Issue.record("no code")
    }
    #expect(error.localizedDescription == "too late")
    #expect((error as NSError).domain == MCErrorDomain && (error as NSError).code == 4)
    #expect(MCError(.unknown) == MCError(.unknown) && MCError(.unknown) != MCError(.cancelled))
    #expect(MCError(PiconetError(.declined, blame: .peer)).code == .cancelled)
  }
}

@Suite("Which states of peers are told")
struct LedgerTests {
  typealias Told = PeerLedger<Int>.Told
  let peer = MCPeerID(displayName: "Anna")

  @Test("an invitation that is accepted, and a member that comes and goes: each state once")
  func ordinary() {
    var ledger = PeerLedger<Int>()
    let attempt = ledger.begin(peer)
    #expect(ledger.accepted(attempt, of: peer) == [Told(peer: peer, state: .connecting)])
    #expect(ledger.joined(1, of: peer) == [])
    ledger.arrived(attempt, of: peer)
    #expect(ledger.connected(1, of: peer) == [Told(peer: peer, state: .connected)])
    #expect(ledger.failed(attempt, of: peer) == [])
    #expect(ledger.left(1, of: peer) == [Told(peer: peer, state: .notConnected)])
    #expect(ledger.left(1, of: peer) == [])
  }

  @Test("one that is declined is told as not connected alone")
  func declined() {
    var ledger = PeerLedger<Int>()
    let attempt = ledger.begin(peer)
    #expect(ledger.failed(attempt, of: peer) == [Told(peer: peer, state: .notConnected)])
    #expect(ledger.failed(attempt, of: peer) == [])
  }

  @Test("of two attempts the failure of one is not told while the other goes on, or has succeeded")
  func two() {
    var ledger = PeerLedger<Int>()
    let (one, other) = (ledger.begin(peer), ledger.begin(peer))
    #expect(ledger.failed(one, of: peer) == [])
    #expect(ledger.accepted(other, of: peer) == [Told(peer: peer, state: .connecting)])
    #expect(ledger.failed(other, of: peer) == [Told(peer: peer, state: .notConnected)])
    let (third, fourth) = (ledger.begin(peer), ledger.begin(peer))
    #expect(ledger.joined(1, of: peer) == [Told(peer: peer, state: .connecting)])
    #expect(ledger.connected(1, of: peer) == [Told(peer: peer, state: .connected)])
    #expect(ledger.failed(third, of: peer) == [] && ledger.failed(fourth, of: peer) == [])
  }

  @Test("two nodes of one peer: connected once, and not connected with the last")
  func nodes() {
    var ledger = PeerLedger<Int>()
    _ = ledger.joined(1, of: peer)
    #expect(ledger.connected(1, of: peer) == [Told(peer: peer, state: .connected)])
    #expect(ledger.joined(2, of: peer) == [] && ledger.connected(2, of: peer) == [])
    #expect(ledger.left(1, of: peer) == [])
    #expect(ledger.left(2, of: peer) == [Told(peer: peer, state: .notConnected)])
  }

  @Test("an attempt that begins when its peer is connected already ends without a word, however it ends")
  func late() {
    for isFailing in [true, false] {
      var ledger = PeerLedger<Int>()
      _ = ledger.joined(1, of: peer) + ledger.connected(1, of: peer)
      let attempt = ledger.begin(peer)
      #expect(ledger.left(1, of: peer) == [Told(peer: peer, state: .notConnected)])
      #expect((isFailing ? ledger.failed(attempt, of: peer) : ledger.end()) == [])
    }
  }

  @Test("whatever happens in any order, each peer's states follow one another as they may")
  func anyOrder() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      var ledger = PeerLedger<Int>()
      var attempts: [Int] = []
      var state = MCSessionState.notConnected
      for _ in 0..<40 {
        var told: [Told] = []
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: attempts.append(ledger.begin(peer))
        case 1: told = attempts.randomElement().map { ledger.accepted($0, of: peer) } ?? []
        case 2: told = attempts.randomElement().map { ledger.failed($0, of: peer) } ?? []
        case 3: if let attempt = attempts.randomElement() { ledger.arrived(attempt, of: peer) }
        case 4: told = ledger.joined(Int.random(in: 0..<3), of: peer)
        case 5:
          let node = Int.random(in: 0..<3)
          told = ledger.joined(node, of: peer) + ledger.connected(node, of: peer)
        default: told = ledger.left(Int.random(in: 0..<3), of: peer)
        }
        for change in told {
          switch (state, change.state) {
          // An invitation that came to nothing.
          case (_, .notConnected), (.notConnected, .connecting), (.connecting, .connected): state = change.state
          default: Issue.record("\(state) to \(change.state)")
          }
        }
      }
      for change in ledger.end() { #expect(change.state == .notConnected) }
    }
  }
}

@Suite("Which peers are in sight")
struct SightingTests {
  typealias Table = BrowsedPeers<Int>

  private func sighting(_ node: Int, _ identifier: UInt64, _ info: [String: String]? = nil) -> Table.Sighting {
    Table.Sighting(node: node, identifier: identifier, name: "n\(identifier)", info: info)
  }

  @Test("a peer is found once, however many nodes it has, is invited through the newest, and lost with the last")
  func nodes() {
    var table = Table()
    let peer = MCPeerID(identifier: 5, displayName: "n5")
    #expect(table.update([sighting(1, 5)]) == [.found(peer, info: nil)])
    #expect(table.update([sighting(2, 5), sighting(1, 5)]) == [])
    #expect(table.newest(5) == 2)
    #expect(table.update([sighting(2, 5)]) == [])
    #expect(table.update([]) == [.lost(peer)])
    #expect(table.newest(5) == nil)
  }

  @Test("another info is another advertiser: lost, and found")
  func info() {
    var table = Table()
    let peer = MCPeerID(identifier: 5, displayName: "n5")
    _ = table.update([sighting(1, 5, ["a": "1"])])
    #expect(table.update([sighting(2, 5, ["a": "2"])]) == [.lost(peer), .found(peer, info: ["a": "2"])])
  }
}
