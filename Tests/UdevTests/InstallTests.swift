import Foundation
import Testing

@Suite("Tools/install-udev")
struct InstallTests {
  @Test("an install into the user's own folder needs no root, and the uninstall removes its files")
  func installsAndUninstalls() throws {
    let folder = try Folder()
    let staged = ["DESTDIR": folder.path]
    #expect(try Command("Tools/install-udev", environment: staged).status == 0)
    #expect(folder.rules == ["72-piconet.rules"])
    #expect(
      FileManager.default.contentsEqual(
        atPath: folder.path + "/etc/udev/rules.d/72-piconet.rules",
        andPath: root.appending(path: "udev/72-piconet.rules").path(percentEncoded: false)))
    #expect(try Command("Tools/install-udev", "--keep-awake", environment: staged).status == 0)
    #expect(folder.rules == ["72-piconet-awake.rules", "72-piconet.rules"])
    // An installation follows its own options, not what an earlier one has left.
    #expect(try Command("Tools/install-udev", environment: staged).status == 0)
    #expect(folder.rules == ["72-piconet.rules"])
    // Rules of other packages stay.
    try "# mine\n".write(toFile: folder.path + "/etc/udev/rules.d/99-mine.rules", atomically: true, encoding: .utf8)
    #expect(try Command("Tools/install-udev", "--uninstall", environment: staged).status == 0)
    #expect(folder.rules == ["99-mine.rules"])
    #expect(try Command("Tools/install-udev", "--uninstall", environment: staged).status == 0)
  }

  @Test("a dry run says what it would do, and does nothing")
  func dryRunDoesNothing() throws {
    let folder = try Folder()
    let said = try Command("Tools/install-udev", "--dry-run", "--keep-awake", environment: ["DESTDIR": folder.path])
    #expect(said.status == 0)
    #expect(said.output.contains("would run: install -m 644") && said.output.contains("72-piconet-awake.rules"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test(
    "wrong options are refused",
    arguments: [
      ["--adapter"], ["--adapter", "hci"], ["--adapter", "hci0\"; RUN"], ["--adapter", "../hci0"], ["--frobnicate"],
      ["--uninstall", "--keep-awake"], ["--uninstall", "--adapter", "hci0"], ["extra"],
    ])
  func wrongOptionsAreRefused(options: [String]) throws {
    let folder = try Folder()
    let words = options.map { "'" + $0.replacing("'", with: "") + "'" }.joined(separator: " ")
    let said = try Command("sh", "-c", "Tools/install-udev \(words)", environment: ["DESTDIR": folder.path])
    #expect(said.status == 2, "\(said.output)")
    #expect(said.output.contains("usage:"))
    #expect(folder.rules.isEmpty)
  }

  @Test("a missing adapter is named, and nothing is written")
  func missingAdapterIsNamed() throws {
    let folder = try Folder()
    let said = try Command("Tools/install-udev", "--adapter", "hci4711", environment: ["DESTDIR": folder.path])
    #expect(said.status == 1)
    #expect(said.output.contains("there is no adapter hci4711"))
    #expect(folder.rules.isEmpty)
  }

  @Test(
    "where no udev runs it says so, and does nothing",
    .enabled(if: !Machine.udevRuns && !Machine.isOurs, "udev runs here"))
  func refusesWithoutUdev() throws {
    let said = try Command("Tools/install-udev")
    #expect(said.status == 1)
    #expect(said.output.contains("udev does not run here") || said.output.contains("no udevadm"))
    #expect(!FileManager.default.fileExists(atPath: "/etc/udev/rules.d/72-piconet.rules"))
  }
}
