import Piconet
import Synchronization

/// Answers senders that ask which of their files are here already. A file that is here counts as if it had been
/// offered.
final class ManifestDesk: Sendable {
  private let node: Node
  private let directory: ReceivingDirectory
  private let desk: OfferDesk
  /// Called after answers, for which many files may have been read; never while an earlier call runs.
  private let keep: @Sendable () async -> Void
  private let isKeeping = Mutex(false)
  /// Twice what a sender has at once, since it may ask again before those that were answered have ended here; what goes
  /// beyond that has no answer.
  private let underWay = OffersUnderWay(limit: 2 * ManifestExchange.atOnce)

  init(node: Node, directory: ReceivingDirectory, desk: OfferDesk, keep: @escaping @Sendable () async -> Void) {
    (self.node, self.directory, self.desk, self.keep) = (node, directory, desk, keep)
  }

  /// Runs until the task is cancelled. Other messages are not expected; any that still come must not cost memory.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await message in node.session.messages {
        let member = message.member
        guard desk.answersManifests(of: member), let manifest = FileManifest(message.bytes),
          underWay.begin(member.id)
        else { continue }
        group.addTask {
          await self.answer(manifest, to: member)
          self.underWay.end(member.id)
          // Only then: it may take long, and the sender waits for an answer to each manifest that it has sent.
          await self.keepUnlessKept()
        }
      }
      group.cancelAll()
    }
  }

  /// What an earlier call leaves out is kept after a later answer, or when the program ends.
  private func keepUnlessKept() async {
    let isFree = isKeeping.withLock { isKeeping in
      defer { isKeeping = true }
      return !isKeeping
    }
    guard isFree else { return }
    await keep()
    isKeeping.withLock { $0 = false }
  }

  private func answer(_ manifest: FileManifest, to member: Member) async {
    do throws(PiconetError) {
      var answer = ManifestAnswer(number: manifest.number)
      if !manifest.files.isEmpty {
        let found = try await directory.find(manifest.files.map(\.claim), of: member)
        answer.outcomes = desk.take(manifest.files, found, of: member)
      }
      try await member.send(answer.encoded(atMost: member.proven.messageLimit))
    } catch {
      // The sender has left, or the program ends.
    }
  }
}

extension FileManifest.File {
  fileprivate var claim: ContentClaim {
    let path = Array(name.utf8)
    let slash = path.lastIndex(of: 0x2F)
    return ContentClaim(
      rawFolder: slash.map { Array(path[..<$0]) } ?? [], rawName: slash.map { Array(path[($0 + 1)...]) } ?? path,
      size: UInt64(clamping: bytes), digest: digest)
  }
}
