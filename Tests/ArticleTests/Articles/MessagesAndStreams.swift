import Piconet

/// What the players of a game tell each other. The first byte says which it is.
enum Move: Equatable {
  /// Where a pointer is: many per second, of which only the newest counts.
  case pointer(x: UInt16, y: UInt16)
  /// Where a stone was put: each counts.
  case stone(column: UInt8, row: UInt8)

  var bytes: [UInt8] {
    switch self {
    case .pointer(let x, let y): [0, UInt8(x >> 8), UInt8(x & 0xFF), UInt8(y >> 8), UInt8(y & 0xFF)]
    case .stone(let column, let row): [1, column, row]
    }
  }

  /// Nil for what is no move: others may send anything.
  init?(_ message: Message) {
    let bytes = Array(message.bytes)
    switch (bytes.first, bytes.count) {
    case (0, 5):
      self = .pointer(x: UInt16(bytes[1]) << 8 | UInt16(bytes[2]), y: UInt16(bytes[3]) << 8 | UInt16(bytes[4]))
    case (1, 3) where bytes[1] < 19 && bytes[2] < 19: self = .stone(column: bytes[1], row: bytes[2])
    default: return nil
    }
  }
}

/// Tells all members of a move.
func tell(_ move: Move, to session: Session) async throws(PiconetError) {
  switch move {
  // Dropped if the connection is busy, and never late: the next one says more.
  case .pointer: try await session.send(move.bytes, mode: .unreliable)
  // Arrives, in order and once, or the member leaves the session.
  case .stone: try await session.send(move.bytes)
  }
}

/// A drawing program sends pictures now and then, and strokes all the time.
enum DrawingChannel {
  static let strokes: MessageChannel = 1
  static let pictures: MessageChannel = 2
}

/// A stroke is on all screens at once, however many pictures are on their way.
func show(_ stroke: [UInt8], in session: Session) async throws(PiconetError) {
  try await session.send(stroke, in: DrawingChannel.strokes)
}

/// Loads the pictures one by one, in its own time: strokes go on meanwhile.
func loadPictures(in session: Session, _ load: (ArraySlice<UInt8>) async -> Void) async {
  for await picture in session.messages(in: DrawingChannel.pictures) { await load(picture.bytes) }
}

/// Hands on every move of the others, until the node stops or the task is cancelled.
func followMoves(in session: Session, _ play: (NodeID, Move) async -> Void) async {
  for await message in session.messages {
    guard let move = Move(message) else { continue }
    await play(message.sender, move)
  }
}

/// Keeps the score of each membership: one point for each stone that was put.
func keepScore(in session: Session, _ show: (Member, Int) async -> Void) async {
  var scores: [Member: Int] = [:]
  for await event in session.events {
    switch event {
    case .joined(let member): scores[member] = 0
    case .message(let message):
      guard case .stone = Move(message) else { continue }
      scores[message.member, default: 0] += 1
    case .left(let member, _): await show(member, scores.removeValue(forKey: member) ?? 0)
    case .offer(let offer): await offer.decline()
    case .stream(let stream): stream.cancel()
    case .suspended, .moved, .resumed: break
    // More kinds of events may come.
    @unknown default: break
    }
  }
}

/// Sends lines as they come, however many, and returns when the reader has read all of them.
func sendLog(_ lines: some AsyncSequence<String, Never>, to member: Member) async throws(PiconetError) {
  let stream = try await member.openStream(named: "log")
  for await line in lines {
    // Waits while the reader is behind: nothing piles up here.
    try await stream.write("\(line)\n".utf8)
  }
  try await stream.finish()
}

/// Reads lines until the writer has finished.
/// - Throws: why there is no more of it: the writer has given it up, or has left; `tooLarge` for a line without an end.
func readLog(_ stream: IncomingStream, _ take: (String) -> Void) async throws(PiconetError) {
  var rest: [UInt8] = []
  while let piece = try await stream.read(upTo: 16_384) {
    rest += piece
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      take(String(decoding: rest[..<end], as: UTF8.self))
      rest.removeSubrange(...end)
    }
    if rest.count > 65_536 {
      stream.cancel(.tooLarge, detail: "a line has at most 65,536 bytes")
      throw PiconetError(.tooLarge, peer: stream.sender.id, blame: .peer)
    }
  }
}

/// Reads the logs of all members side by side.
func readLogs(of session: Session, _ take: @escaping @Sendable (_ sender: String, _ line: String) -> Void) async {
  await withDiscardingTaskGroup { group in
    for await stream in session.streams where stream.name == "log" {
      group.addTask {
        do throws(PiconetError) {
          try await readLog(stream) { take(stream.sender.name, $0) }
        } catch {
          take(stream.sender.name, "(\(error))")
        }
      }
    }
  }
}
