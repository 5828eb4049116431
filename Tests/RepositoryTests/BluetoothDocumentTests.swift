import Foundation
import Testing

@Suite("What the documentation says of Bluetooth")
struct BluetoothDocumentTests {
  @Test("the packet arithmetic is what air.py computes")
  func arithmeticIsComputed() throws {
    let document = try #require(Repository.text("Documentation/bluetooth.md")).text
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["python3", "-B", Repository.root + "/Tools/BluetoothBenchmark/air.py", "3000000"]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let table = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(document.contains(table), "Documentation/bluetooth.md should hold:\n\(table)")
  }

  @Test("the attributes of the record are those of the source")
  func attributesAreThoseOfTheSource() throws {
    let document = try #require(Repository.text("Documentation/bluetooth.md")).text
    let source = try #require(Repository.text("Sources/PiconetSDP/Record/NodeRecord+Attributes.swift")).text
    let numbers = source.matches(of: /UInt16 = (0x80[0-9A-F]{2})/).map { String($0.1) }
    #expect(numbers.count >= 9)
    for number in numbers { #expect(document.contains("| \(number) |"), "\(number)") }
  }
}
