import Testing

@testable import Piconet

@Suite("Both sides invite at once", .timeLimit(.minutes(5)))
struct SimultaneousInvitationTests {
  @Test(
    "50 times two nodes dial each other at once: both calls succeed, and there is one association", arguments: 0..<5)
  func both(round: Int) async throws {
    for _ in 0..<10 {
      try await Node.run(Host.configuration("Left")) { left in
        try await Node.run(Host.configuration("Right")) { right in
          try await left.setAvailable(true)
          try await right.setAvailable(true)
          let toLeft = try #require(await left.listeningAddresses.first).text
          let toRight = try #require(await right.listeningAddresses.first).text
          async let first = left.connect(to: toRight)
          async let second = right.connect(to: toLeft)
          let (onLeft, onRight) = (try await first, try await second)
          #expect(onLeft.id == right.id && onRight.id == left.id)
          // One association: the same code on both sides, and what is sent on it arrives.
          #expect(onLeft.proven.shortCode == onRight.proven.shortCode)
          #expect(left.session.members.map(\.id) == [right.id])
          #expect(right.session.members.map(\.id) == [left.id])
          try await onLeft.send([1])
          try await onRight.send([2])
          #expect(await right.session.messages.first().map { Array($0.bytes) } == [1])
          #expect(await left.session.messages.first().map { Array($0.bytes) } == [2])
          // Nobody was told of an invitation: each was the answer to the other.
          #expect(left.core.invitations.count + right.core.invitations.count == 0)
        }
      }
    }
  }
}
