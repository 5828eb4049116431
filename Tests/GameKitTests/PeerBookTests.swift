import Piconet
import Testing

@testable import GameKit

extension SessionCall {
  fileprivate var words: String {
    switch self {
    case .state(let peer, let state): "\(state) \(peer)"
    case .request(let peer, _, let id): "request \(id) \(peer)"
    case .failed(let peer, let error): "\(error.code) \(peer)"
    case .data(_, let peer): "data \(peer)"
    case .sessionFailed(let error): "failed \(error.code)"
    }
  }
}

@Suite("What a session tells of its peers")
struct PeerBookTests {
  private let one = NodeID(
    peer: PeerID(hexadecimal: String(repeating: "a1", count: 32))!, incarnation: Incarnation(rawValue: 1))
  private let other = NodeID(
    peer: PeerID(hexadecimal: String(repeating: "b2", count: 32))!, incarnation: Incarnation(rawValue: 2))

  private func book() -> PeerBook { PeerBook(own: "0") }

  @Test("the delegate is told once that an unconnected peer is available, and again after each connection")
  func availability() {
    var book = book()
    let seen = [(one, "One", "1" as String?)]
    #expect(book.sighted(seen).map(\.words) == ["stateAvailable 1"])
    #expect(book.sighted(seen).isEmpty)
    #expect(book.connecting(one).map(\.words) == ["stateConnecting 1"])
    #expect(book.peers(in: .stateAvailable) == ["1"] && book.peers(in: .stateConnecting) == ["1"])
    #expect(book.joined(one, name: "One", claim: "1").map(\.words) == ["stateConnected 1"])
    #expect(book.joined(one, name: "One", claim: "1").isEmpty)
    #expect(book.sighted([]).isEmpty)
    #expect(book.sighted(seen).isEmpty)
    #expect(book.peers(in: .stateAvailable) == [])
    // Until its end is told, so that a program that leaves can see when all peers are gone.
    book.leaving(one)
    #expect(book.peers(in: .stateConnected) == ["1"])
    #expect(
      book.left(one, GKSessionError(.connectionClosedError)).map(\.words)
        == ["stateDisconnected 1", "stateAvailable 1"])
    #expect(book.sighted([]).map(\.words) == ["stateUnavailable 1"])
    #expect(book.peers(in: .stateUnavailable) == ["1"] && book.name("1") == "One" && book.node("1") == nil)
  }

  @Test("a peer that is reached over another is connected as any other, and relayed as long as that is so")
  func relayed() {
    var book = book()
    _ = book.joined(one, name: "One", claim: "1")
    _ = book.joined(other, name: "Other", claim: "2")
    #expect(book.peers(in: .stateConnectedRelay) == [])
    book.isReached(one, overAnother: true)
    #expect(book.peers(in: .stateConnectedRelay) == ["1"] && book.peers(in: .stateConnected) == ["1", "2"])
    book.isReached(one, overAnother: false)
    #expect(book.peers(in: .stateConnectedRelay) == [])
    book.isReached(one, overAnother: true)
    _ = book.left(one, GKSessionError(.connectionClosedError))
    #expect(book.peers(in: .stateConnectedRelay) == [] && book.peers(in: .stateConnected) == ["2"])
    book.isReached(one, overAnother: true)
    #expect(book.peers(in: .stateConnectedRelay) == [])
  }

  @Test("a peer that vanishes while it is asked is reported as gone only if no connection comes of it")
  func vanishing() {
    var book = book()
    _ = book.sighted([(one, "One", "1")])
    _ = book.connecting(one)
    #expect(book.sighted([]).isEmpty)
    #expect(
      book.attemptFailed(one, GKSessionError(.timedOutError)).map(\.words) == ["timedOutError 1", "stateUnavailable 1"])
    #expect(book.attemptFailed(one, GKSessionError(.timedOutError)).isEmpty)
    #expect(book.ending("1")?.code == .timedOutError)
  }

  @Test("a request that ends before it is told leaves no trace; one that was told fails")
  func requests() {
    var book = book()
    #expect(book.asked(one, name: "One", claim: "1", id: 7).map(\.words) == ["request 7 1"])
    #expect(book.requestEnded(7, of: one, GKSessionError(.cancelledError)).isEmpty)
    #expect(book.tells(request: 7, of: one) == false)
    _ = book.asked(one, name: "One", claim: "1", id: 8)
    #expect(book.tells(request: 7, of: one) == false)
    #expect(book.tells(request: 8, of: one) == true)
    #expect(book.requestEnded(7, of: one, GKSessionError(.cancelledError)).isEmpty)
    #expect(book.requestEnded(8, of: one, GKSessionError(.cancelledError)).map(\.words) == ["cancelledError 1"])
    _ = book.asked(one, name: "One", claim: "1", id: 9)
    _ = book.tells(request: 9, of: one)
    #expect(book.connecting(one).isEmpty, "the request has said that it is connecting")
    #expect(book.joined(one, name: "One", claim: "1").map(\.words) == ["stateConnected 1"])
  }

  @Test("a disconnect for silence is a failure as well")
  func silence() {
    var book = book()
    _ = book.joined(one, name: "One", claim: "1")
    #expect(
      book.left(one, GKSessionError(.timedOutError)).map(\.words) == ["timedOutError 1", "stateDisconnected 1"])
    #expect(book.peers(in: .stateDisconnected) == ["1"])
  }

  @Test("a node that claims the id of another peer, or ours, does not get it")
  func claims() {
    var book = book()
    _ = book.sighted([(one, "One", "1"), (other, "Other", "1")])
    #expect(book.node("1") == one && book[other]?.peerID.hasPrefix("b2b2") == true)
    var second = self.book()
    _ = second.sighted([(one, "One", "0"), (other, "Other", nil)])
    #expect(second.node("0") == nil && second[one]?.peerID.hasPrefix("a1a1") == true)
    // The greeting of a node that is known already changes nothing.
    _ = second.joined(other, name: "Other", claim: "5")
    #expect(second.node("5") == nil)
  }

  @Test("of peers that have gone a limited number is remembered")
  func former() {
    var book = book()
    for number in 0..<500 {
      let node = NodeID(peer: one.peer, incarnation: Incarnation(rawValue: UInt64(number)))
      _ = book.joined(node, name: "x", claim: "\(1_000 + number)")
      _ = book.left(node, GKSessionError(.connectionClosedError))
    }
    #expect(book.peers(in: .stateDisconnected).count == PeerBook.formerLimit && book.entries.isEmpty)
    #expect(book.name("1499") == "x" && book.name("1000") == nil)
  }
}
