import Foundation
import PiconetWire

/// The vectors of `Documentation/wire-format.md`, the only place where they are written down.
enum WireDocument {
  struct Vector {
    let name: String
    let bytes: [UInt8]
  }

  static let golden = vectors(in: "golden")
  static let refused = vectors(in: "refused")

  static let text: String = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardized
    return (try? String(contentsOf: root.appending(path: "Documentation/wire-format.md"), encoding: .utf8)) ?? ""
  }()

  /// The lines `name: hexadecimal # remark` of all blocks fenced with this word. A line that can't be read gives no
  /// bytes, and no frame has none.
  private static func vectors(in fence: String) -> [Vector] {
    var vectors: [Vector] = []
    var isInside = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isInside = line == "```\(fence)"
      } else if isInside {
        let parts = line.prefix { $0 != "#" }.split(separator: ":", maxSplits: 1)
        let digits = parts.count == 2 ? parts[1].filter { $0 != " " } : ""
        vectors.append(Vector(name: String(parts.first ?? line), bytes: [UInt8](hexadecimal: digits) ?? []))
      }
    }
    return vectors
  }
}
