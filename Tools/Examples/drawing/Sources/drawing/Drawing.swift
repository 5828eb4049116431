/// A drawing that several people change at once, and that ends up the same for all, in whatever order they hear of the
/// strokes: each place shows the newest one.
struct Drawing {
  static let (width, height) = (32, 8)
  private(set) var strokes: [Stroke?] = Array(repeating: nil, count: width * height)
  /// The time of the newest stroke seen so far (a Lamport clock). Our next one is newer.
  private(set) var time = 0

  /// Takes anybody's stroke, however late and however often it comes.
  /// - Returns: whether it changes the drawing.
  mutating func take(_ stroke: Stroke) -> Bool {
    time = max(time, stroke.time)
    let place = stroke.y * Self.width + stroke.x
    // If two were made at the same time the author decides, so that all agree.
    if let present = strokes[place], (present.time, present.author) >= (stroke.time, stroke.author) { return false }
    strokes[place] = stroke
    return true
  }

  /// A line of text for each line of the paper.
  var text: String {
    let characters = strokes.map { $0?.character ?? "." }
    return (0..<Self.height).map { String(characters[($0 * Self.width)...].prefix(Self.width)) }.joined(separator: "\n")
  }
}

struct Stroke {
  let time, x, y: Int
  let author: String
  let character: Character

  /// As it is sent.
  var line: String { "\(time) \(author) \(x) \(y) \(character)" }

  /// Nil for anything but a stroke on the paper: others can send anything. A time near the largest number would leave
  /// no room for a later one.
  init?(line: Substring) {
    let fields = line.split(separator: " ").map(String.init)
    guard fields.count == 5, let time = Int(fields[0]), let x = Int(fields[2]), let y = Int(fields[3]),
      (1...1 << 40).contains(time), (0..<Drawing.width).contains(x), (0..<Drawing.height).contains(y),
      fields[4].count == 1, let character = fields[4].first, ("!"..."~").contains(character)
    else { return nil }
    (self.time, author, self.x, self.y, self.character) = (time, fields[1], x, y, character)
  }
}
