import Foundation
import Testing

@testable import PiconetDevice

@Suite("UIDevice")
struct DeviceStandInTests {
  @Test("current has a name, a system and a model, from any thread")
  func names() async {
    let names = await Task.detached {
      [UIDevice.current.name, UIDevice.current.systemName, UIDevice.current.systemVersion, UIDevice.current.model]
    }.value
    #expect(names.allSatisfy { !$0.isEmpty })
    #expect(names[1] == "Linux" && names[2].contains("."))
  }

  @Test(
    "the name that people have given a machine is taken, quoted or not",
    arguments: [
      ("PRETTY_HOSTNAME=\"Anna's laptop\"\n", "Anna's laptop"), ("ICON_NAME=x\nPRETTY_HOSTNAME=Kitchen\n", "Kitchen"),
      ("PRETTY_HOSTNAME='Living room'", "Living room"), (#"PRETTY_HOSTNAME="Anna \"A\" \\ \$5""#, #"Anna "A" \ $5"#),
      ("PRETTY_HOSTNAME=\"\"\n", nil), ("PRETTY_HOSTNAME=\n", nil),
      ("", nil), ("PRETTY_HOSTNAME=\"\n", "\""),
    ] as [(String, String?)])
  func prettyNames(text: String, name: String?) { #expect(MachineInfo.prettyName(in: text) == name) }

  @Test("the identifier is the same at each start, and two that make it at once agree")
  func identifier() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("piconet-vendor.\(UUID().uuidString)")
      .path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let made = await withTaskGroup(of: UUID?.self) { group in
      for _ in 0..<16 { group.addTask { VendorIdentifier.kept(in: folder + "/state") } }
      return await group.reduce(into: Set<UUID?>()) { $0.insert($1) }
    }
    let only = try #require(made.first)
    #expect(made.count == 1 && only != nil)
    #expect(VendorIdentifier.kept(in: folder + "/state") == only)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/state") == ["identifier-for-vendor"])
  }

  @Test("a device that can keep no file has no identifier")
  func noFolder() {
    #expect(VendorIdentifier.kept(in: nil) == nil)
    #expect(VendorIdentifier.kept(in: "/proc/piconet") == nil)
    #expect(VendorIdentifier.folder(environment: ["HOME": "relative"]) == nil)
    #expect(VendorIdentifier.folder(environment: ["HOME": "/home/anna"]) == "/home/anna/.local/state/piconet")
    let both = ["HOME": "/home/anna", "XDG_STATE_HOME": "/state"]
    #expect(VendorIdentifier.folder(environment: both) == "/state/piconet")
  }
}
