import PiconetEngine
import PiconetWire
import Testing

@testable import PiconetTLS

@Suite struct TypedCodeProverTests {
  private let id = CodeID(rawValue: 1)
  private let link = LinkID(rawValue: 1)

  /// Two nodes over a secured link.
  private struct Pair {
    let channels: ChannelPair
    let inviter: TypedCodeProver
    let invited: TypedCodeProver

    init() throws {
      channels = try ChannelPair.secured()
      guard case .secured(let server) = channels.client.state, case .secured(let client) = channels.server.state
      else { throw SecureChannelFailure(.internalError, "not secured") }
      inviter = TypedCodeProver(own: client)
      invited = TypedCodeProver(own: server)
    }
  }

  private func code(_ digits: String) throws -> TypedCode { try #require(TypedCode(digits)) }

  /// Runs the whole proof, step by step; gives what the inviter and the invited side have found.
  private func run(_ pair: Pair, typed: String, set: String) throws -> (TypedCodeFinding?, TypedCodeFinding?) {
    let own = try #require(try pair.invited.prepare(code(set)))
    let number = pair.inviter.number(of: try code(typed))
    guard
      case .share(let share)? = pair.inviter.prove(id, .share(number, link), over: pair.channels.client),
      case .answer(let answer, let confirmation)? = pair.invited.prove(
        id, .answer(own, link, share: share), over: pair.channels.server)
    else { return (nil, nil) }
    let checked = pair.inviter.prove(id, .check(share: answer, confirmation: confirmation), over: nil)
    guard case .confirmed(let back)? = checked else { return (checked, nil) }
    return (checked, pair.invited.prove(id, .confirm(back), over: nil))
  }

  @Test("two nodes with the same code prove it over their channel, and with another they don't")
  func proves() throws {
    let right = try run(try Pair(), typed: "042917", set: "042 917")
    guard case .confirmed? = right.0, right.1 == .right else {
      Issue.record("\(right)")
      return
    }
    #expect(try run(try Pair(), typed: "042918", set: "042917").0 == .wrong)
  }

  @Test("an attacker in the middle, with a link to each side, proves nothing by handing everything on")
  func middle() throws {
    let left = try Pair()
    let right = try Pair()
    let own = try #require(try right.invited.prepare(code("042917")))
    let number = left.inviter.number(of: try code("042917"))
    guard
      case .share(let share)? = left.inviter.prove(id, .share(number, link), over: left.channels.client),
      case .answer(let answer, let confirmation)? = right.invited.prove(
        id, .answer(own, link, share: share), over: right.channels.server)
    else {
      Issue.record("no answer")
      return
    }
    #expect(left.inviter.prove(id, .check(share: answer, confirmation: confirmation), over: nil) == .wrong)
  }

  @Test("a reflected share and one beside the curve are unfit, and what has ended finds nothing")
  func unfit() throws {
    let pair = try Pair()
    let own = try #require(try pair.invited.prepare(code("042917")))
    let zeros = [UInt8](repeating: 0, count: InviteByCode.shareCount)
    #expect(pair.invited.prove(id, .answer(own, link, share: zeros), over: pair.channels.server) == .unfit)
    let number = pair.inviter.number(of: try code("042917"))
    guard case .share(let share)? = pair.inviter.prove(id, .share(number, link), over: pair.channels.client) else {
      Issue.record("no share")
      return
    }
    let confirmation = [UInt8](repeating: 0, count: InviteByCode.confirmationCount)
    #expect(pair.inviter.prove(id, .check(share: share, confirmation: confirmation), over: nil) == .unfit)
    #expect(pair.inviter.prove(id, .end, over: nil) == nil)
    guard case .failed? = pair.inviter.prove(id, .check(share: share, confirmation: confirmation), over: nil) else {
      Issue.record("it goes on")
      return
    }
    guard case .failed? = pair.inviter.prove(id, .share(number, link), over: nil) else {
      Issue.record("without a link")
      return
    }
  }

  @Test("the same digits have one number where they are typed, and a new one each time they are set")
  func numbers() throws {
    let prover = try Pair().inviter
    let first = prover.number(of: try code("042917"))
    #expect(prover.number(of: try code("042 917")) == first)
    #expect(prover.number(of: try code("042918")) != first)
    let set = try prover.prepare(code("042917"))
    #expect(set != nil && set != first)
    #expect(try prover.prepare(code("042917")) != set)
    #expect(try prover.prepare(nil) == nil)
  }

  @Test("a code that was taken back is of no use")
  func takenBack() throws {
    let pair = try Pair()
    let own = try #require(try pair.invited.prepare(code("042917")))
    _ = try pair.invited.prepare(nil)
    let share = [UInt8](repeating: 4, count: InviteByCode.shareCount)
    guard case .failed? = pair.invited.prove(id, .answer(own, link, share: share), over: pair.channels.server) else {
      Issue.record("it is answered")
      return
    }
  }

  @Test("codes that are typed without end are kept in mind within a limit")
  func bounded() throws {
    let prover = try Pair().inviter
    let first = prover.number(of: try code("000000"))
    for number in 0..<TypedCodeProver.limit {
      let digits = String(number + 1)
      _ = prover.number(of: try code(String(repeating: "0", count: 6 - digits.count) + digits))
    }
    #expect(prover.number(of: try code("000000")) != first)
  }
}
