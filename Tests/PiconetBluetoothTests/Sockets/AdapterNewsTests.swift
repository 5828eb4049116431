import Testing

@testable import PiconetBluetooth

@Suite("News of adapters, for all who listen on them")
struct AdapterNewsTests {
  /// What the kernel would report, and who has asked it to.
  private final class Kernel {
    var hasBluetooth = true
    var begun = 0
    var ended = 0
    private var changed: (() -> Void)?

    func watch(_ changed: @escaping () -> Void) -> (() -> Void)? {
      guard hasBluetooth else { return nil }
      begun += 1
      self.changed = changed
      return { [self] in
        ended += 1
        self.changed = nil
      }
    }

    func change() { changed?() }
  }

  private final class Listener {
    var id: ObjectIdentifier { ObjectIdentifier(self) }
  }

  private let kernel = Kernel()
  private let listeners = [Listener(), Listener(), Listener()]

  private func makeNews() -> AdapterNews { AdapterNews { [kernel] in kernel.watch($0) } }

  @Test("one watch is enough for all, begins with the first and ends with the last of them")
  func sharing() {
    let news = makeNews()
    #expect(!news.isWatching && kernel.begun == 0)
    var told: [Int] = []
    for (number, listener) in listeners.enumerated() { news.add(listener.id) { told.append(number) } }
    #expect(news.isWatching && kernel.begun == 1)
    kernel.change()
    #expect(told == [0, 1, 2], "in the order in which they came")
    news.remove(listeners[1].id)
    news.remove(listeners[1].id)
    kernel.change()
    #expect(told == [0, 1, 2, 0, 2])
    news.remove(listeners[0].id)
    #expect(news.isWatching && kernel.ended == 0)
    news.remove(listeners[2].id)
    #expect(!news.isWatching && kernel.ended == 1)
    news.add(listeners[0].id) {}
    #expect(kernel.begun == 2)
  }

  @Test("a listener that is added anew is told once, by the new call, and the watch goes on")
  func replacement() {
    let news = makeNews()
    var told: [String] = []
    news.add(listeners[0].id) { told.append("old") }
    news.add(listeners[0].id) { told.append("new") }
    kernel.change()
    #expect(told == ["new"])
    #expect(kernel.begun == 1 && kernel.ended == 0)
  }

  @Test("a listener removed by an earlier one hears nothing; a listener that removes itself leaves the others theirs")
  func removalWhileTelling() {
    let news = makeNews()
    var told: [Int] = []
    news.add(listeners[0].id) { [listeners] in
      told.append(0)
      news.remove(listeners[0].id)
      news.remove(listeners[1].id)
    }
    news.add(listeners[1].id) { told.append(1) }
    news.add(listeners[2].id) { told.append(2) }
    kernel.change()
    #expect(told == [0, 2])
    kernel.change()
    #expect(told == [0, 2, 2])
  }

  @Test("a listener that is added while the others are told hears of the next change")
  func additionWhileTelling() {
    let news = makeNews()
    var told: [Int] = []
    news.add(listeners[0].id) { [listeners] in
      told.append(0)
      if told == [0] { news.add(listeners[1].id) { told.append(1) } }
    }
    kernel.change()
    #expect(told == [0])
    kernel.change()
    #expect(told == [0, 0, 1])
  }

  @Test("without Bluetooth no listener is told anything, and the next one to come tries again")
  func withoutBluetooth() {
    kernel.hasBluetooth = false
    let news = makeNews()
    var told: [Int] = []
    news.add(listeners[0].id) { told.append(0) }
    #expect(!news.isWatching)
    kernel.hasBluetooth = true
    news.add(listeners[1].id) { told.append(1) }
    kernel.change()
    #expect(told == [0, 1])
    news.remove(listeners[0].id)
    news.remove(listeners[1].id)
    #expect(kernel.ended == 1)
  }

  @Test("news that is dropped ends its watch")
  func dropped() {
    var news: AdapterNews? = makeNews()
    news?.add(listeners[0].id) {}
    #expect(kernel.begun == 1)
    news = nil
    #expect(kernel.ended == 1)
  }
}
