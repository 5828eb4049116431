import PiconetEngine
import PiconetSDP
import Testing

@testable import PiconetBluetooth

@Suite("Commands to a controller, and their answers")
struct HCIConversationTests {
  typealias Effect = HCIConversation.Effect

  static let start = Instant(nanoseconds: 1_000_000_000)
  static let read = HCICommand.readScanEnable
  static let inquiry = HCICommand.inquiry(length: 4)

  private static func added(_ conversation: inout HCIConversation, _ command: HCICommand, at now: Instant) throws
    -> (HCIConversation.Ticket, [Effect])
  {
    let added = conversation.add(command, at: now)
    let (ticket, effects) = try #require(added)
    return (ticket, effects)
  }

  @Test func commandsGoOneAfterTheOtherAndEachHasItsAnswer() throws {
    var conversation = HCIConversation()
    let (first, effects) = try Self.added(&conversation, Self.read, at: Self.start)
    #expect(effects == [.write(first, Self.read)])
    let (second, later) = try Self.added(&conversation, Self.inquiry, at: Self.start)
    #expect(later.isEmpty)
    // Answers to another program, or to the kernel.
    #expect(conversation.heard(opcode: Self.inquiry.opcode, status: 0, parameters: [], at: Self.start).isEmpty)
    #expect(
      conversation.heard(opcode: Self.read.opcode, status: 0, parameters: [3], at: Self.start)
        == [.write(second, Self.inquiry), .answered(first, Self.read, status: 0, parameters: [3])])
    #expect(
      conversation.heard(opcode: Self.inquiry.opcode, status: 0x0C, parameters: [], at: Self.start)
        == [.answered(second, Self.inquiry, status: 0x0C, parameters: [])])
    #expect(conversation.nextDeadline == nil)
  }

  @Test func aLateAnswerIsNotTakenForThatOfALaterCommandOfTheSameKind() throws {
    var conversation = HCIConversation()
    let (first, _) = try Self.added(&conversation, Self.read, at: Self.start)
    let deadline = try #require(conversation.nextDeadline)
    #expect(conversation.deadlineReached(at: Self.start).isEmpty)
    #expect(
      conversation.deadlineReached(at: deadline) == [.answered(first, Self.read, status: nil, parameters: [])])
    let (second, _) = try Self.added(&conversation, Self.read, at: deadline)
    #expect(conversation.heard(opcode: Self.read.opcode, status: 0, parameters: [1], at: deadline).isEmpty)
    #expect(
      conversation.heard(opcode: Self.read.opcode, status: 0, parameters: [2], at: deadline)
        == [.answered(second, Self.read, status: 0, parameters: [2])])
  }

  @Test func anAnswerThatNeverCameIsNotWaitedForForEver() throws {
    var conversation = HCIConversation()
    _ = try Self.added(&conversation, Self.read, at: Self.start)
    let deadline = try #require(conversation.nextDeadline)
    _ = conversation.deadlineReached(at: deadline)
    let later = deadline + HCIConversation.debtLimit
    let (second, _) = try Self.added(&conversation, Self.read, at: later)
    #expect(
      conversation.heard(opcode: Self.read.opcode, status: 0, parameters: [2], at: later)
        == [.answered(second, Self.read, status: 0, parameters: [2])])
  }

  @Test func aCommandThatWasNotWrittenOwesNoAnswer() throws {
    var conversation = HCIConversation()
    let (first, _) = try Self.added(&conversation, Self.read, at: Self.start)
    #expect(
      conversation.notWritten(first, at: Self.start) == [.answered(first, Self.read, status: nil, parameters: [])])
    let (second, _) = try Self.added(&conversation, Self.read, at: Self.start)
    #expect(conversation.notWritten(first, at: Self.start).isEmpty)
    #expect(
      conversation.heard(opcode: Self.read.opcode, status: 0, parameters: [], at: Self.start)
        == [.answered(second, Self.read, status: 0, parameters: [])])
  }

  @Test func noMoreThanTheLimitWait() {
    var conversation = HCIConversation()
    var count = 0
    while conversation.add(Self.read, at: Self.start) != nil, count < 1000 { count += 1 }
    #expect(count == HCIConversation.queueLimit + 1)
  }
}
