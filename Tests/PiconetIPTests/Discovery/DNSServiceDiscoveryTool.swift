import Foundation
import TestSupport

/// Runs scripts that use dnssd-tool, as `$TOOL`.
enum DNSServiceDiscoveryTool {
  static func run(_ script: String) async throws -> ProcessOutcome {
    try await NetworkNamespace.run(script, with: ["TOOL": path])
  }

  /// Where the build put the tool.
  static var path: String {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    for directory in [URL(filePath: program), URL(filePath: CommandLine.arguments[0])] {
      let candidate = directory.deletingLastPathComponent().appending(path: "dnssd-tool").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
    }
    for bundle in Bundle.allBundles {
      let candidate = bundle.bundleURL.deletingLastPathComponent().appending(path: "dnssd-tool").path
      if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
    }
    return "dnssd-tool"
  }
}
