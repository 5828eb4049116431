import Glibc
import Testing

@testable import PiconetFiles

/// What a sender has: files that belong together, by the endings of their names.
private struct Shots {
  let stem: String
  let files: [(ending: String, bytes: [UInt8])]

  /// As the sender tells it.
  var group: FileGroup {
    get throws {
      try #require(
        FileGroup(
          files.map { file in
            FileGroup.Member(
              ending: file.ending, size: UInt64(file.bytes.count),
              start: FileStart(bytes: digest(Array(file.bytes.prefix(64 << 10))).bytes.prefix(FileStart.byteCount))!)
          }))
    }
  }

  func receive(
    _ ending: String, in directory: IncomingDirectory, policy: ConflictPolicy = .rename,
    of files: (any FilesOfSender)? = nil
  ) throws -> IncomingOutcome {
    let bytes = try #require(self.files.first { $0.ending == ending }).bytes
    let file = try IncomingFile(
      in: directory, name: try name(stem + ending), offeredSize: UInt64(bytes.count), policy: policy,
      group: try FileGroup(group.bytes), of: files)
    try file.write(bytes)
    return try file.commit(expectedDigest: digest(bytes))
  }
}

@Suite("Files that belong together") struct FileGroupTests {
  private let folder: TemporaryDirectory
  private let directory: IncomingDirectory

  init() throws {
    folder = try TemporaryDirectory(inMemory: true)
    directory = try IncomingDirectory(path: folder.path, settings: .test())
  }

  /// The same sizes, as cameras without compression give them.
  private func shots(_ seed: UInt8, stem: String = "IMG_9") -> Shots {
    Shots(
      stem: stem,
      files: [
        (".HEIC", pattern(2_000, seed: seed)), (".MOV", pattern(5_000, seed: seed)),
        (".HEIC.xmp", pattern(40, seed: seed)), (".AAE", pattern(40)),
      ])
  }

  static let orders: [[String]] = [
    [".HEIC", ".MOV", ".HEIC.xmp", ".AAE"], [".MOV", ".HEIC.xmp", ".HEIC", ".AAE"],
    [".AAE", ".HEIC.xmp", ".MOV", ".HEIC"],
  ]

  @Test("have one number if another photo has the name, in any order, and are found again", arguments: orders)
  func oneNumber(order: [String]) throws {
    try folder.file("IMG_9.HEIC", pattern(2_000, seed: 7))
    let mine = shots(1)
    for ending in order {
      #expect(try mine.receive(ending, in: directory).stored?.name.text == "IMG_9 (2)\(ending)")
    }
    for ending in order.reversed() {
      #expect(try mine.receive(ending, in: directory).present?.name.text == "IMG_9 (2)\(ending)")
    }
    #expect(try entries(folder.path).count == 5)
  }

  @Test("keep the number after the receiver has ended in between", arguments: orders)
  func interrupted(order: [String]) throws {
    try folder.file("IMG_9.JPG", pattern(2_000, seed: 7))
    for ending in order {
      let again = try IncomingDirectory(path: folder.path, settings: .test())
      #expect(try shots(1).receive(ending, in: again).stored?.name.text == "IMG_9 (2)\(ending)")
    }
  }

  @Test("lie beside no other photo of the stem, though their names are free")
  func otherEnding() throws {
    try folder.file("IMG_9.jpg", pattern(10))
    #expect(try shots(1).receive(".MOV", in: directory).stored?.name.text == "IMG_9 (2).MOV")
    #expect(try shots(1).receive(".HEIC", in: directory).stored?.name.text == "IMG_9 (2).HEIC")
  }

  @Test("of several senders at once do not get between one another", arguments: orders)
  func several(order: [String]) throws {
    var names: [UInt8: Set<String>] = [:]
    for ending in order {
      for seed: UInt8 in 1...3 {
        let stored = try #require(try shots(seed).receive(ending, in: directory).stored)
        names[seed, default: []].insert("\(NumberedName(stored.name.text).number ?? 1)")
      }
    }
    #expect(names.values.allSatisfy { $0.count == 1 } && Set(names.values).count == 3, "\(names)")
  }

  @Test("are joined by no single file that comes between them")
  func single() throws {
    #expect(try shots(1).receive(".HEIC", in: directory).stored?.name.text == "IMG_9.HEIC")
    #expect(try receive("IMG_9.MOV", [1], in: directory).stored?.name.text == "IMG_9 (2).MOV")
    #expect(try shots(1).receive(".MOV", in: directory).stored?.name.text == "IMG_9.MOV")
  }

  @Test("a sender's photo with the number that its other one got is not mixed with it")
  func numberedByThemselves() throws {
    try folder.file("IMG_9.HEIC", pattern(10))
    let (one, other) = (shots(1), shots(2, stem: "IMG_9 (2)"))
    for ending in Self.orders[0] {
      #expect(try one.receive(ending, in: directory).stored?.name.text == "IMG_9 (2)\(ending)")
      #expect(try other.receive(ending, in: directory).stored?.name.text == "IMG_9 (3)\(ending)")
    }
  }

  @Test("what is written about a photo goes with it, though another photo has the very same")
  func sameSidecar() throws {
    try folder.file("IMG_9.HEIC", pattern(2_000, seed: 7))
    try folder.file("IMG_9.AAE", pattern(40))
    #expect(try shots(1).receive(".AAE", in: directory).stored?.name.text == "IMG_9 (2).AAE")
    #expect(try shots(1).receive(".AAE", in: directory).present?.name.text == "IMG_9 (2).AAE")
  }

  @Test("with skip nothing is put beside another photo, and with overwrite all take its place")
  func otherPolicies() throws {
    try folder.file("IMG_9.HEIC", pattern(2_000, seed: 7))
    for ending in [".MOV", ".HEIC", ".AAE"] {
      let outcome = try shots(1).receive(ending, in: directory, policy: .skip)
      #expect(try outcome == .skipped(name("IMG_9\(ending)")))
    }
    for ending in [".MOV", ".HEIC", ".AAE"] {
      let outcome = try shots(1).receive(ending, in: directory, policy: .overwrite)
      #expect(outcome.stored?.name.text == "IMG_9\(ending)")
    }
    // What the same sender has stored stays: then all of the other photo have another number.
    let used = UsedFiles("IMG_9.MOV", "IMG_9.AAE", "IMG_9.HEIC")
    for ending in [".MOV", ".AAE", ".HEIC"] {
      let outcome = try shots(2).receive(ending, in: directory, policy: .overwrite, of: used)
      #expect(outcome.stored?.name.text == "IMG_9 (2)\(ending)")
    }
  }

  @Test("a peer's words that are no group, or one without the file, make it a single file")
  func hostile() throws {
    let group = try shots(1).group
    #expect(FileGroup(group.bytes) == group)
    for count in 0..<group.bytes.count where count != group.bytes.count {
      let cut = FileGroup(Array(group.bytes.prefix(count)))
      #expect(cut == nil || (2..<4).contains(cut!.members.count))
    }
    #expect(group.bytes.count <= 512)
    func told(_ endings: [String]) -> [UInt8] {
      endings.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) + [1] + [UInt8](repeating: 0, count: 16) }
    }
    #expect(FileGroup(told([".jpg", ".xmp"])) != nil)
    for endings in [
      [".jpg"], [".jpg", ".jpg"], [".jpg", "/../a.xmp"], [".jpg", ".\n.xmp"], [".jpg", ".sh"], [".jpg", "xmp"],
      [".jpg", ".a.xmp"], (0..<17).map { ".jpg\($0)" }, [".jpg", ""],
    ] {
      #expect(FileGroup(told(endings)) == nil, "\(endings)")
    }
    let other = try #require(FileGroup(told([".png", ".xmp"])))
    #expect(GroupNames(other, try name("IMG_9.HEIC"), in: directory) == nil)
  }

  @Test("claims are few, and end")
  func claims() {
    var claims = GroupClaims()
    func key(_ number: Int) -> GroupClaims.Key { GroupClaims.Key(folder: "", identity: number) }
    for number in 0...GroupClaims.limit {
      claims.note(GroupClaims.Place("", "a\(number)"), 2, of: key(number), at: Int64(number))
    }
    let now = Int64(GroupClaims.limit)
    #expect(claims.number(of: key(0), at: now) == nil)
    #expect(claims.number(of: key(1), at: now) == 2)
    #expect(claims.isTaken(GroupClaims.Place("", "A1"), for: key(2), at: now))
    #expect(!claims.isTaken(GroupClaims.Place("", "a1"), for: key(1), at: now))
    #expect(claims.number(of: key(1), at: GroupClaims.age + 1) == nil)
  }

  // MARK: Without a group

  private func receiveAlone(
    _ text: String, _ bytes: [UInt8], of files: any FilesOfSender, policy: ConflictPolicy = .rename
  ) throws -> IncomingOutcome {
    let file = try IncomingFile(
      in: directory, name: try name(text), offeredSize: UInt64(bytes.count), policy: policy, of: files)
    try file.write(bytes)
    return try file.commit(expectedDigest: digest(bytes))
  }

  @Test(
    "a film or sidecar whose sender names no group does not lie beside another sender's photo",
    arguments: ["IMG_9.MOV", "IMG_9.HEIC.xmp", "IMG_9.AAE", "img_9.mov"])
  func loneFilm(text: String) throws {
    let photo = text.first == "i" ? "img_9.HEIC" : "IMG_9.HEIC"
    _ = try folder.file(photo, pattern(2_000))
    guard case .stored(let file) = try receiveAlone(text, pattern(50), of: UsedFiles()) else {
      Issue.record("not stored")
      return
    }
    #expect(file.name.text == NumberedName.split(text).stem + " (2)" + NumberedName.split(text).ending)
    #expect(try receiveAlone(text, pattern(60), of: UsedFiles(), policy: .skip) == .skipped(try name(text)))
  }

  @Test("a sender's own photo has its film and sidecar beside it without a group, with a number too")
  func ownPhoto() throws {
    _ = try folder.file("IMG_9.HEIC", pattern(1_000))
    let files = UsedFiles()
    let names = try ["IMG_9.HEIC", "IMG_9.MOV", "IMG_9.HEIC.xmp"].map { text in
      let outcome = try receiveAlone(text, pattern(2_000, seed: UInt8(text.utf8.count)), of: files)
      return if case .stored(let file) = outcome { file.name.text } else { "\(outcome)" }
    }
    #expect(names == ["IMG_9 (2).HEIC", "IMG_9 (2).MOV", "IMG_9 (2).HEIC.xmp"])
  }

  @Test("a sender that has the stored photo may store its film beside it without a group")
  func presentPhoto() throws {
    _ = try folder.file("IMG_9.HEIC", pattern(2_000))
    let files = UsedFiles()
    guard case .present = try receiveAlone("IMG_9.HEIC", pattern(2_000), of: files),
      case .stored(let film) = try receiveAlone("IMG_9.MOV", pattern(50), of: files)
    else {
      Issue.record("the photo is not present, or the film not stored")
      return
    }
    #expect(film.name.text == "IMG_9.MOV")
  }

  @Test("a film alone, and one beside another film, keep their names")
  func otherFilms() throws {
    _ = try folder.file("IMG_9.mp4", pattern(2_000))
    guard case .stored(let film) = try receiveAlone("IMG_9.MOV", pattern(50), of: UsedFiles()) else {
      Issue.record("not stored")
      return
    }
    #expect(film.name.text == "IMG_9.MOV")
  }
}
