import PiconetFiles
import TestSupport
import Testing

@testable import Piconet

@Suite("A directory for received files") struct ReceivingDirectoryTests {
  @Test("that is not there is named by the error, which says that it is a directory")
  func missing() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("file", [1])
    try await Host.run(takesOffers: false) { host in
      for (path, code, words) in [
        (folder.path + "/none", PiconetError.Code.directoryVanished, "there is no such directory"),
        (file, .noPermission, "is not a directory"),
      ] {
        do throws(PiconetError) {
          _ = try await host.node.receivingDirectory(at: path)
          Issue.record("opened")
        } catch {
          #expect(error.code == code && error.blame == .us)
          #expect(error.detail == "\(path): \(words)")
          #expect("\(error)".contains(path))
        }
      }
    }
  }
}
