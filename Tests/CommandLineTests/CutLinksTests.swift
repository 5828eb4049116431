import Piconet
import Testing

@testable import PiconetCommandLine

@Suite("Links that nothing goes over")
struct CutLinksTests {
  private func peer(_ name: String) -> TransferPeer { TransferPeer(id: name, fingerprint: name, name: name) }

  @Test(
    "no link, or one out of an interface that is down; Bluetooth has no address here, and without a list all is well")
  func cut() {
    let links: [(TransferPeer, TransportKind?, String?)] = [
      (peer("gone"), nil, nil), (peer("here"), .tcp, "10.0.0.1:4000"), (peer("down"), .tcp, "10.0.1.1:4000"),
      (peer("six"), .tcp, "[fe80::1%eth0]:4000"), (peer("radio"), .l2cap, "00:11:22:33:44:55/0x1005"),
    ]
    let cut = CutLinks.cut(links, running: ["127.0.0.1", "10.0.0.1", "fe80::1"])
    #expect(cut == [peer("gone"), peer("down")])
    #expect(CutLinks.cut(links, running: nil) == [peer("gone")])
    #expect(CutLinks.host(of: "127.0.0.1:1") == "127.0.0.1" && CutLinks.host(of: "[::1]:1") == "::1")
    #expect(CutLinks.host(of: "") == "" && CutLinks.host(of: "[:") == "")
  }

  @Test("the bar of a peer that nothing gets to says so in place of the rate and the time, and goes on when it does")
  func bar() {
    var fold = ProgressFold()
    let start = ContinuousClock.now
    let key = fold.begin("a.jpg", peer("K"), total: 10_000, isTrusted: true, isTold: true)
    for step in 0...10 {
      fold.progress(key, done: Int64(step * 500))
      fold.measure(at: start + .seconds(step))
    }
    let line = { (fold: ProgressFold) in
      fold.bars(at: start + .seconds(10)).first?.lines(columns: 100, unicode: false).first ?? ""
    }
    #expect(line(fold).contains("/s") && line(fold).contains(" left") && !line(fold).contains("stalled"))
    fold.cut([peer("K"), peer("L")])
    #expect(line(fold).contains("stalled") && !line(fold).contains("/s") && !line(fold).contains(" left"))
    fold.cut([])
    #expect(line(fold).contains("/s"))
  }

  @Test("the bar of all is stalled when all of them are that files still go to")
  func whole() {
    var fold = ProgressFold(isCounting: true)
    fold.count(.init(files: 2, bytes: 100, isWhole: true))
    for name in ["K", "L"] { fold.open(peer(name)) }
    fold.cut([peer("K")])
    #expect(fold.bars(at: .now).map(\.isStalled) == [false, true, false])
    fold.cut([peer("K"), peer("L")])
    #expect(fold.bars(at: .now).map(\.isStalled) == [true, true, true])
  }
}
