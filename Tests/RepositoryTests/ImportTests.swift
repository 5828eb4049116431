import Testing

@Suite("Arrows between modules point down only")
struct ImportTests {
  /// What each module may import; the pure ones import only the standard library and each other.
  static let allowed: [String: Set<String>] = [
    "PiconetWire": [],
    "PiconetEngine": ["PiconetWire"],
    "PiconetDNSSD": [],
    "PiconetSDP": ["PiconetWire"],
    "PiconetDBusValues": [],
    "PiconetBlueZ": ["PiconetSDP", "PiconetDBusValues", "PiconetEngine", "PiconetWire"],
    "PiconetDBus": ["PiconetDBusValues", "PiconetEngine", "PiconetRuntime", "CSystemd", "Glibc"],
    "PiconetBluetooth": [
      "PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetSDP", "PiconetBlueZ", "PiconetDBus",
      "PiconetDBusValues", "CPiconetBluetooth", "CBluetooth", "CPiconetSystem", "COpenSSL", "Glibc", "Synchronization",
    ],
    "PiconetTestKit": ["PiconetEngine", "PiconetWire", "PiconetCalls"],
    "PiconetRuntime": ["PiconetEngine", "PiconetWire", "CPiconetSystem", "Glibc", "Synchronization"],
    "PiconetTLS": ["PiconetEngine", "PiconetWire", "CPiconetOpenSSL", "Glibc", "Synchronization"],
    "PiconetIP": [
      "PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetDNSSD", "CPiconetSystem", "Glibc", "Synchronization",
    ],
    "PiconetAvahi": [
      "PiconetDNSSD", "PiconetDBus", "PiconetDBusValues", "PiconetEngine", "PiconetRuntime", "Glibc",
    ],
    "PiconetHTTP": ["PiconetRuntime", "CPiconetHTTP", "CPiconetSystem", "Glibc", "Synchronization"],
    "PiconetFiles": ["PiconetEngine", "PiconetWire", "CPiconetSystem", "COpenSSL", "Glibc", "Synchronization"],
    "Piconet": [
      "PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetIP", "PiconetTLS", "PiconetFiles", "PiconetHTTP",
      "PiconetDNSSD",
      "PiconetAvahi", "PiconetBluetooth", "PiconetSDP",
      "CPiconetSystem", "Glibc", "Synchronization",
    ],
    "PiconetFoundation": ["Piconet", "Foundation"],
    // As a program of anybody's would; and, under its own name, the C module with its submodules.
    "GameKit": [
      "Piconet", "PiconetFoundation", "PiconetTerminal", "PiconetDevice", "GameKit", "Foundation", "Dispatch",
      "Synchronization",
    ],
    "PiconetDevice": ["Foundation", "Glibc"],
    "UIKit": ["PiconetDevice"],
    "PiconetTerminal": ["Piconet", "CPiconetSystem", "Glibc", "Synchronization"],
    // The same.
    "MultipeerConnectivity": [
      "Piconet", "PiconetFoundation", "PiconetTerminal", "PiconetDevice", "MultipeerConnectivity", "Foundation",
      "Dispatch",
      "Synchronization",
    ],
    "PiconetCalls": [],
    // The public interface, and its own pure half: whatever it needs beside them other programs would miss as well.
    "PiconetActors": ["Piconet", "PiconetCalls", "CPiconetActors", "Distributed", "Synchronization"],
  ]

  /// Tools see only the public module, except those that show or test one part of it.
  static let tools: Set<String> = [
    "Piconet", "PiconetActors", "PiconetTerminal", "PiconetCommandLine", "PiconetTaskPool", "CPiconetSystem",
    "Distributed", "Glibc",
    "Synchronization",
  ]
  static let partsOfTools: [String: Set<String>] = [
    "Tools/DNSServiceDiscoveryTool": [
      "PiconetAvahi", "PiconetIP", "PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetDNSSD",
    ],
    "Tools/Fuzz": ["PiconetTestKit"],
    // `piconet call` has no Swift types for what it sends; a desktop is asked over the same D-Bus as bluetoothd, which
    // is nothing for other programs' interface. The runtime is told of another pool of threads by an interface of
    // _Concurrency that has to be asked for.
    "Tools/CommandLine": ["PiconetCalls", "PiconetBluetooth", "_Concurrency"],
    "Tools/EffectHashes": ["PiconetEngine", "PiconetTestKit"],
    // These have manifests of their own, and need `Dispatch` to read a keyboard without
    // Foundation, or the interfaces of Apple's frameworks.
    "Tools/Examples": [
      "BasicInterface", "Dispatch", "PackageDescription", "Foundation", "GameKit", "MultipeerConnectivity",
    ],
    // Beside a program with `import Piconet` one with Apple's interface.
    "Tools/MultipeerBenchmark": ["Foundation", "MultipeerConnectivity"],
    "Tools/FarAdapter": [
      "PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetIP", "PiconetBluetooth", "PiconetSDP",
    ],
    "Tools/FarAdapterProgram": ["FarAdapter", "PiconetEngine", "PiconetIP", "PiconetRuntime", "PiconetBluetooth"],
  ]

  static func imported(_ line: String) -> String? {
    let kinds = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    let words = line.split(separator: " ").map(String.init)
    guard let position = words.firstIndex(of: "import"), position + 1 < words.count,
      words[..<position].allSatisfy({ $0.hasPrefix("@") || ["public", "package", "internal", "private"].contains($0) })
    else { return nil }
    let name = words[(position + 1)...].first { !kinds.contains($0) } ?? ""
    return name.split(separator: ".").first.map(String.init)
  }

  @Test("every import is allowed")
  func everyImportIsAllowed() {
    var wrong: [String] = []
    for file in Repository.sources {
      let allowed = Self.allowed[file.module] ?? Self.tools.union(Self.partsOfTools[file.module] ?? [])
      wrong += file.places { line in Self.imported(line).map { !allowed.contains($0) } ?? false }
    }
    #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))")
  }

  @Test("every folder in Sources is in the table, or holds C")
  func everyModuleIsKnown() {
    for module in Set(Repository.sources.filter { $0.path.hasPrefix("Sources/") }.map(\.module)) {
      #expect(Self.allowed[module] != nil, "\(module) is new: say what it may import")
    }
  }

  /// Nothing else tells before somebody fuzzes: the package builds from its own list.
  @Test("Tools/fuzz compiles each module behind all that it imports")
  func fuzzedModulesComeInOrder() throws {
    let script = try #require(Repository.text("Tools/fuzz")).text
    let targets = script.matches(of: /modules=\(([A-Za-z ]+)\); sources=\((?:"\$root\/([^"]+)")?\)/)
    #expect(targets.count == 4)
    for target in targets {
      let modules = target.1.split(separator: " ").map(String.init)
      for (index, module) in modules.enumerated() {
        let files = Repository.sources.filter { $0.module == module }
        #expect(!files.isEmpty && Self.lacking(files, beside: modules[..<index]).isEmpty, "\(module) of \(target.1)")
      }
      guard let source = target.2 else { continue }
      let file = try #require(Repository.text(String(source)))
      #expect(Self.lacking([file], beside: modules[...]).isEmpty, "\(source)")
    }
  }

  private static func lacking(_ files: [TextFile], beside modules: ArraySlice<String>) -> Set<String> {
    let imports = Set(files.flatMap { $0.lines.compactMap(imported) })
    return imports.filter { $0.hasPrefix("Piconet") }.subtracting(modules)
  }

  /// Otherwise the number of processors decides to which of two modules a member of a structure of the C library
  /// belongs, and whether a file that imports only Glibc builds.
  @Test("each C module begins with the import of the C library's")
  func modulesOfCBeginWithTheLibrary() {
    let umbrellas = Repository.texts.filter {
      $0.path.hasPrefix("Sources/C") && ($0.path.hasSuffix("/shim.h") || $0.path.contains(/\/include\/CPiconet\w+\.h$/))
    }
    #expect(umbrellas.count == 7)
    for header in umbrellas {
      let code = header.text.split(separator: "\n").filter { !$0.hasPrefix("//") && $0 != "#pragma once" }
      #expect(
        code.prefix(3) == ["#ifdef __swift__", "#pragma clang module import SwiftGlibc", "#endif"], "\(header.path)")
    }
  }

  @Test("imports are recognised in all their forms")
  func importsAreRecognised() {
    #expect(Self.imported("import Foundation") == "Foundation")
    #expect(Self.imported("@preconcurrency import Glibc") == "Glibc")
    #expect(Self.imported("@_exported import struct PiconetWire.PeerID") == "PiconetWire")
    #expect(Self.imported("public import PiconetEngine") == "PiconetEngine")
    #expect(Self.imported("let important = import_table") == nil)
  }
}
