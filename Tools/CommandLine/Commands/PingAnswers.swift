import Piconet

/// The answers to one asker in one channel, in the order of its pings and separate from all others: an asker that does
/// not read its answers holds up no other peer, nor itself in another channel.
final class PingAnswers: Sendable {
  /// The most answers that wait. Pings beyond that are not answered: the sender counts them as lost.
  static let limit = 32

  private let member: Member
  private let channel: MessageChannel
  private let answers: AsyncStream<[UInt8]>
  private let queue: AsyncStream<[UInt8]>.Continuation

  init(to member: Member, in channel: MessageChannel) {
    self.member = member
    self.channel = channel
    (answers, queue) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.limit))
  }

  /// Takes a ping. False when nothing more is sent: the member has left, and one with its name has joined again.
  func take(_ bytes: [UInt8]) -> Bool {
    if case .terminated = queue.yield(bytes) { false } else { true }
  }

  /// Sends until `end`, until the member has left, or until the task is cancelled.
  func run() async {
    for await bytes in answers {
      do throws(PiconetError) {
        try await member.send(bytes, in: channel)
      } catch {
        break
      }
    }
    queue.finish()
  }

  func end() { queue.finish() }
}
