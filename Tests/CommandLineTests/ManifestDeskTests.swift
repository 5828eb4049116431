import Piconet
import TestSupport
import Testing

@testable import PiconetCommandLine

// The wait for messages has no end if an answer is missing; then the time limit ends it.
@Suite("The answers to senders that ask about many files", .timeLimit(.minutes(5)))
struct ManifestDeskTests {
  @Test("each manifest gets one, although what was read for those before is still being kept")
  func askedAgain() async throws {
    try await ToolScene.run { scene in
      try await scene.withNode("Kitchen") { kitchen in
        try await kitchen.setAvailable(true)
        let address = try #require(await kitchen.listeningAddresses.first).text
        let console = Console(program: "test", json: false, verbosity: Verbosity())
        let desk = OfferDesk(
          node: kitchen, console: console, board: TransferBoard(console: console),
          notes: ConnectionNotes(node: kitchen, console: console),
          directory: try await kitchen.receivingDirectory(at: scene.into), consents: Consents(),
          arguments: ImageReceiveArguments())
        let kept = Gate()
        let manifests = ManifestDesk(
          node: kitchen, directory: try await kitchen.receivingDirectory(at: scene.into), desk: desk
        ) { await kept.wait() }
        let answering = Task { await manifests.run() }
        defer {
          kept.open()
          answering.cancel()
        }
        try await scene.withNode("Phone") { phone in
          let member = try await phone.invite(at: address)
          var messages = phone.session.messages.makeAsyncIterator()
          let digest = try #require(SHA256Digest(bytes: [UInt8](repeating: 7, count: 32)))
          for number in 1...5 as ClosedRange<UInt64> {
            var manifest = FileManifest(number: number)
            let isIn = manifest.add(FileManifest.File(name: "a.jpg", bytes: 10, digest: digest))
            #expect(isIn)
            try await member.send(manifest.encoded)
            let answer = try #require(await messages.next())
            #expect(ManifestAnswer(answer.bytes) == ManifestAnswer(number: number, outcomes: [.absent]))
          }
        }
      }
    }
  }
}
