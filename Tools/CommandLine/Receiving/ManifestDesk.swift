import Piconet

/// Answers senders that ask which of their files are here already. What is here counts as if it had been offered.
final class ManifestDesk: Sendable {
  private let node: Node
  private let directory: ReceivingDirectory
  private let desk: OfferDesk
  /// Called after each answer, for which many files may have been read.
  private let answered: @Sendable () -> Void
  /// A sender has no more at once; what goes beyond that has no answer.
  private let underWay = OffersUnderWay(limit: ManifestExchange.atOnce)

  init(node: Node, directory: ReceivingDirectory, desk: OfferDesk, answered: @escaping @Sendable () -> Void) {
    (self.node, self.directory, self.desk, self.answered) = (node, directory, desk, answered)
  }

  /// Runs until the task is cancelled. Other messages are not expected; any that come all the same must not cost
  /// memory.
  func run() async {
    await withDiscardingTaskGroup { group in
      for await message in node.session.messages {
        let member = message.member
        guard desk.answersManifests(of: member), let manifest = FileManifest(message.bytes),
          underWay.begin(member.id)
        else { continue }
        group.addTask {
          await self.answer(manifest, to: member)
          self.answered()
          self.underWay.end(member.id)
        }
      }
      group.cancelAll()
    }
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
