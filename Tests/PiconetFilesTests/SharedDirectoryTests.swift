import Testing

@testable import PiconetFiles

@Suite("A directory that several threads receive into")
struct SharedDirectoryTests {
  @Test("space that was set aside is given back to the last byte, also by several threads at once")
  func promises() async throws {
    let temporary = try TemporaryDirectory()
    let directory = try IncomingDirectory(path: temporary.path)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<20_000 {
            directory.promise(3)
            directory.endPromise(3)
          }
        }
      }
    }
    #expect(directory.promisedByteCount == 0)
  }
}
