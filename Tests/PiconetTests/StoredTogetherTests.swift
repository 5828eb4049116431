import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Piconet
@testable import PiconetFiles

@Suite("Many files at once", .timeLimit(.minutes(15)))
struct StoredTogetherTests {
  private static let count = 40
  private static let bad: UInt8 = 0xBD

  /// A disk on which several files must be made durable at the same time, and one of them can't be.
  private final class Disk: @unchecked Sendable {
    // Sendable is right: what changes is used only with the condition locked.
    private let condition = NSCondition()
    private let together: Int
    private(set) var most = 0
    private var inside = 0
    /// Names that were there when the directory was last synchronized.
    private var durable: Set<String> = []
    private var isMet = false

    init(together: Int) { self.together = together }

    func isDurable(_ name: String) -> Bool {
      condition.lock()
      defer { condition.unlock() }
      return durable.contains(name)
    }

    func calls(in directory: String) -> FileSystemCalls {
      var calls = FileSystemCalls()
      let real = calls
      calls.synchronizeContent = { [self] file in
        meet()
        var byte: UInt8 = 0
        return pread(file, &byte, 1, 0) == 1 && byte == StoredTogetherTests.bad ? EIO : real.synchronizeContent(file)
      }
      calls.synchronizeEntries = { [self] folder in
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let result = real.synchronizeEntries(folder)
        condition.lock()
        durable.formUnion(names)
        condition.unlock()
        return result
      }
      return calls
    }

    /// Waits until as many files are here as should meet, but for a minute at most.
    private func meet() {
      condition.lock()
      inside += 1
      most = max(most, inside)
      if inside >= together { isMet = true }
      condition.broadcast()
      let end = Date(timeIntervalSinceNow: 60)
      while !isMet, condition.wait(until: end) {}
      isMet = true
      inside -= 1
      condition.unlock()
    }
  }

  @Test("each is stored only with its name on the disk, and one whose content the disk does not take fails alone")
  func together() async throws {
    try await Host.run(takesOffers: false) { host in
      let disk = Disk(together: 4)
      let receiving = ReceivingDirectory(
        try IncomingDirectory(path: host.directory, settings: .init(), calls: disk.calls(in: host.directory)),
        path: host.directory)
      let storing = Task {
        await withDiscardingTaskGroup { group in
          for await offer in host.node.session.offers {
            group.addTask { _ = try? await offer.store(in: receiving) }
          }
        }
      }
      let failed = try await Host.client { client in
        let member = try await client.invite(at: host.address)
        return await withTaskGroup(of: (Int, PiconetError.Code)?.self) { group in
          for number in 0..<Self.count {
            group.addTask {
              let first: UInt8 = number == 7 ? Self.bad : 1
              do throws(PiconetError) {
                let bytes = [first] + [UInt8](repeating: UInt8(number), count: 10_000)
                let sent = try await member.send(.bytes(bytes, named: "\(number).bin"))
                return disk.isDurable(sent.storedName) ? nil : (number, .internalError)
              } catch {
                return (number, error.code)
              }
            }
          }
          return await group.reduce(into: [Int: PiconetError.Code]()) { codes, code in
            if let code { codes[code.0] = code.1 }
          }
        }
      }
      #expect(failed == [7: .storageFailed])
      #expect(host.entries() == (0..<Self.count).filter { $0 != 7 }.map { "\($0).bin" }.sorted())
      #expect((4...8).contains(disk.most), "\(disk.most) at once")
      storing.cancel()
    }
  }
}
