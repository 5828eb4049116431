import Foundation

/// A program of the same build.
package func built(_ program: String) -> String {
  // The bundle is an executable beside the programs, or is loaded by one that is elsewhere.
  let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
  let bundles = [own] + CommandLine.arguments.filter { $0.hasSuffix(".xctest") } + Bundle.allBundles.map(\.bundlePath)
  return bundles.map { URL(filePath: $0).deletingLastPathComponent().appending(path: program).path }
    .first { FileManager.default.isExecutableFile(atPath: $0) } ?? program
}
