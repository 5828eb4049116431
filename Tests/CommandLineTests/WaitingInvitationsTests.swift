import Piconet
import Synchronization
import Testing

@testable import PiconetCommandLine

@Suite("Invitations that wait for a person")
struct WaitingInvitationsTests {
  /// Which numbers are open.
  private final class Open: Sendable {
    private let numbers: Mutex<Set<Int>>

    init(_ numbers: Set<Int>) { self.numbers = Mutex(numbers) }

    func has(_ number: Int) -> Bool { numbers.withLock { $0.contains(number) } }
    func end(_ number: Int) { numbers.withLock { _ = $0.remove(number) } }
    func begin(_ number: Int) { numbers.withLock { _ = $0.insert(number) } }
  }

  @Test("come in their order, without those that have gone, which are reported")
  func order() async {
    let open = Open([1, 2, 3])
    let gone = Mutex<[Int]>([])
    let waiting = WaitingInvitations<Int>(
      isOpen: { open.has($0) }, tellGone: { number in gone.withLock { $0.append(number) } })
    for number in 1...3 { waiting.append(number) }
    open.end(2)
    #expect(await waiting.next() == 1)
    #expect(await waiting.next() == 3)
    #expect(gone.withLock { $0 } == [2])
  }

  @Test("of a peer that invites and withdraws without end no more waits than the last one")
  func bounded() {
    let open = Open([0])
    let waiting = WaitingInvitations<Int>(isOpen: { open.has($0) }, tellGone: { _ in })
    waiting.append(0)
    for number in 1...10_000 {
      open.begin(number)
      waiting.append(number)
      open.end(number)
    }
    #expect(waiting.count <= 2)
  }

  @Test("a reader that waits is given the next one, and one that is cancelled nothing")
  func readers() async {
    let waiting = WaitingInvitations<Int>(isOpen: { _ in true }, tellGone: { _ in })
    async let next = waiting.next()
    waiting.append(7)
    #expect(await next == 7)
    let cancelled = Task { await waiting.next() }
    cancelled.cancel()
    #expect(await cancelled.value == nil)
  }
}
