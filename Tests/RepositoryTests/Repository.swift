import Foundation

/// This checkout's files, read once.
enum Repository {
  static let root: String = {
    var url = URL(filePath: #filePath)
    for _ in 0..<3 { url.deleteLastPathComponent() }
    return url.standardizedFileURL.path(percentEncoded: false).trimmingSuffix("/")
  }()

  /// What belongs to the project, rather than to a build or to somebody's editor.
  private static let folders = ["Sources", "Tests", "Tools", "Documentation", ".ci", "udev"]
  private static let files = ["Package.swift", "README.md", "CONTRIBUTING.md", ".swift-format", ".gitignore"]
  private static let binaries: Set<String> = ["jpg", "jpeg", "png", "webp", "pyc"]

  /// All text files, by their path from the root, in order.
  static let texts: [TextFile] = {
    var paths = files.filter { FileManager.default.fileExists(atPath: root + "/" + $0) }
    for folder in folders {
      for name in FileManager.default.enumerator(atPath: root + "/" + folder) ?? .init() {
        guard let name = name as? String, !name.contains(".build/") else { continue }
        var isDirectory: ObjCBool = false
        let path = folder + "/" + name
        guard FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &isDirectory),
          !isDirectory.boolValue, !binaries.contains(URL(filePath: path).pathExtension)
        else { continue }
        paths.append(path)
      }
    }
    return paths.sorted().compactMap { path in
      FileManager.default.contents(atPath: root + "/" + path).map {
        TextFile(path: path, text: String(decoding: $0, as: UTF8.self))
      }
    }
  }()

  /// The Swift files of the library and of the tools.
  static let sources = texts.filter {
    $0.path.hasSuffix(".swift") && ($0.path.hasPrefix("Sources/") || $0.path.hasPrefix("Tools/"))
  }

  static func text(_ path: String) -> TextFile? { texts.first { $0.path == path } }
}

/// One file, and its lines without comments and strings.
struct TextFile: Sendable {
  let path: String
  let text: String
  let lines: [String]
  /// As many lines as `lines`; what is in comments and string literals is blank.
  let code: [String]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    code = path.hasSuffix(".swift") ? SwiftCode.withoutCommentsAndStrings(text) : lines
  }

  /// `Sources/NAME/...` gives NAME, `Tools/NAME/...` gives Tools/NAME.
  var module: String {
    let parts = path.split(separator: "/").map(String.init)
    return parts[0] == "Sources" ? parts[1] : parts.prefix(2).joined(separator: "/")
  }

  /// `path:line: text` for every line of code of which `isWrong` is true.
  func places(where isWrong: (String) -> Bool) -> [String] {
    code.indices.filter { isWrong(code[$0]) }.map(place)
  }

  func place(_ index: Int) -> String {
    "\(path):\(index + 1): \(lines[index].trimmingCharacters(in: .whitespaces))"
  }
}

extension String {
  func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
