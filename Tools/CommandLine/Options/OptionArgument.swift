/// What follows an option: `30` in `--timeout=30`. Bytes, because it may be a path.
struct OptionArgument: Sendable {
  let bytes: [UInt8]

  /// U+FFFD stands for what is not UTF-8.
  var text: String { String(decoding: bytes, as: UTF8.self) }
}
