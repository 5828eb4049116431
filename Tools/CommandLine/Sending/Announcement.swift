import Piconet
import Synchronization

/// The announcement of a command's files: computed while they are counted, and sent to each invited receiver. Any
/// thread may use it.
final class Announcement: Sendable {
  private struct State {
    var files = AnnouncedFiles()
    /// Of which a sheet is to be made, with their places among the named ones.
    var pictures: [(place: Int, path: LocalPath)] = []
    var isMakingSheet = false
  }

  private let state = Mutex(State())
  private let (ends, end) = AsyncStream<Never>.makeStream()
  private let (sheetEnds, sheetEnd) = AsyncStream<Never>.makeStream()
  /// nil: no pictures are sent.
  private let decoder: PictureDecoder?

  /// How long an invitation waits for the count: a person who is asked wants to know, and does not want to wait.
  static let patience = Duration.seconds(3)
  /// How long it waits for pictures beyond that.
  static let sheetPatience = Duration.seconds(1)

  init(decoder: PictureDecoder? = nil) { self.decoder = decoder }

  func add(_ file: GatheredFile) {
    let folder = file.folder.map { $0.text + "/" } ?? ""
    let isFull = state.withLock { state in
      let place = state.files.files
      state.files.add(folder + file.name.text, bytes: file.size)
      guard place < ContactSheet.fileLimit, !file.isURL, file.kind == .jpeg || file.kind == .png,
        state.pictures.count < ContactSheet.pictureLimit
      else { return place == ContactSheet.fileLimit }
      state.pictures.append((place, file.content ?? file.path))
      return state.pictures.count == ContactSheet.pictureLimit
    }
    // While the rest is counted.
    if isFull { makeSheet() }
  }

  /// Once, of what there is then.
  private func makeSheet() {
    let pictures = state.withLock { state -> [(place: Int, path: LocalPath)] in
      defer { state.isMakingSheet = true }
      return state.isMakingSheet ? [] : state.pictures
    }
    guard let decoder, !pictures.isEmpty else { return }
    Task {
      let sheet = await decoder.sheet(of: pictures)
      state.withLock { $0.files.sheet = sheet }
      sheetEnd.finish()
    }
  }

  /// Nothing more is counted.
  /// - Parameter isWhole: whether these are all, and the sizes of all are known.
  func finish(isWhole: Bool) {
    makeSheet()
    state.withLock { $0.files.isWhole = isWhole }
    end.finish()
  }

  /// Returns the announcement once all files are counted, or after as long as a person should wait.
  func told() async -> AnnouncedFiles {
    _ = await limited(to: Self.patience) { [ends] () -> Bool? in
      for await _ in ends {}
      return true
    }
    if decoder != nil, state.withLock({ $0.isMakingSheet && !$0.pictures.isEmpty }) {
      _ = await limited(to: Self.sheetPatience) { [sheetEnds] () -> Bool? in
        for await _ in sheetEnds {}
        return true
      }
    }
    return state.withLock { $0.files }
  }
}
