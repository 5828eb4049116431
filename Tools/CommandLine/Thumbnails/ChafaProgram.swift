import Glibc

/// chafa draws better with characters than blocks alone can. It is given pixels that were decoded without rights, never
/// what a peer has sent.
struct ChafaProgram: Sendable {
  let path: String
  /// What it may take.
  var time = Duration.seconds(2)

  /// - Parameter searchPath: the variable PATH.
  static func installed(searchPath: String?) -> ChafaProgram? {
    let folders = (searchPath ?? "").split(separator: ":").filter { $0.hasPrefix("/") }
    let path = folders.lazy.map { folder -> String in "\(folder)/chafa" }.first { access($0, X_OK) == 0 }
    return path.map { ChafaProgram(path: $0) }
  }

  private static let outputLimit = 1 << 19

  /// Lines that show a picture; nil if it can't. Blocks the calling thread.
  func lines(of picture: Picture, _ form: ThumbnailForm, columns: Int, rows: Int) -> [String]? {
    let options: [String]
    switch form {
    case .kitty: return nil
    case .sixel: options = ["--format", "sixels"]
    case .symbols(let isFull): options = ["--format", "symbols", "--colors", isFull ? "full" : "256"]
    }
    let process = ChildProcess(
      path: path, arguments: options + ["--animate", "off", "--polite", "on", "--size", "\(columns)x\(rows)", "-"])
    guard
      let output = process.output(
        for: .bytes(UncompressedPNG.bytes(of: picture)), atMost: Self.outputLimit, within: time),
      let text = String(validating: output, as: UTF8.self), !text.isEmpty
    else { return nil }
    return text.split(separator: "\n").map(String.init)
  }
}
