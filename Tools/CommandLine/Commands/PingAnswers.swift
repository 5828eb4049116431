import Piconet

/// The answers to one asker, in the order of its pings and apart from those to others: who does not read its answers
/// holds up nobody else.
final class PingAnswers: Sendable {
  /// Answers that wait. What is asked beyond it is not answered: the asker counts it as lost.
  static let limit = 32

  private let member: Member
  private let answers: AsyncStream<[UInt8]>
  private let queue: AsyncStream<[UInt8]>.Continuation

  init(to member: Member) {
    self.member = member
    (answers, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
  }

  /// False when nothing is sent any more: the member has left, and who asks under its name has joined anew.
  func take(_ bytes: [UInt8]) -> Bool {
    if case .terminated = queue.yield(bytes) { false } else { true }
  }

  /// Sends until `end`, until the member has left, or until the task is cancelled.
  func run() async {
    for await bytes in answers {
      do throws(PiconetError) {
        try await member.send(bytes)
      } catch {
        break
      }
    }
    queue.finish()
  }

  func end() { queue.finish() }
}
