import Glibc
import Piconet
import PiconetTerminal
import Synchronization

/// The treatment of locations in photos: `--location`. Any thread may use it.
final class LocationRule: Sendable {
  private enum Decision: Sendable {
    case keep, strip
    /// A person is asked about the first file with a location.
    case open
  }

  private let decision: Mutex<Decision>
  private let tool: ExifTool?
  private let console: Console
  private let question = TaskGate(1)
  /// exiftool computes: more at once would not be quicker.
  private let room = TaskGate(max(1, min(4, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))))

  /// Everything as it is.
  init(console: Console) {
    decision = Mutex(.keep)
    tool = nil
    self.console = console
  }

  /// Throws if what was asked for can't be done on this machine.
  init(_ arguments: ImageSendArguments, _ environment: ProgramEnvironment, _ console: Console) throws(TransferFailure) {
    self.console = console
    switch arguments.location {
    case .keep:
      decision = Mutex(.keep)
      tool = nil
      return
    case .strip: decision = Mutex(.strip)
    case .ask:
      decision = Mutex(.open)
      guard AcceptQuestion.isPossible, !arguments.yes else {
        throw Self.lack("--location ask asks a person, and there is none: give --location strip or keep")
      }
    }
    if case .missing(let reason) = LandlockSupport.current {
      throw Self.lack(
        "--location \(arguments.location.rawValue) runs exiftool confined, and the kernel can't: \(reason)")
    }
    guard let found = ExifTool.find(environment.variable) else {
      throw Self.lack(
        "--location \(arguments.location.rawValue) needs exiftool, which is not installed: sudo apt install \(ExifTool.package)"
      )
    }
    tool = found
  }

  private static func lack(_ message: String) -> TransferFailure {
    TransferFailure(word: "usage", message: message, exitCode: .usage)
  }

  /// Whether a file may still be sent otherwise than it is: not with `keep`, whether that was said before or answered.
  var mayChangeFiles: Bool { tool != nil && decision.withLock { $0 != .keep } }

  /// Returns the file to send in place of a file.
  /// - Returns: nil: the file itself.
  func content(of file: GatheredFile) async throws(TransferFailure) -> CleanFile? {
    guard let tool, mayChangeFiles else { return nil }
    let outcome = await room.run { () async -> Result<CleanFile?, TransferFailure> in
      do throws(TransferFailure) {
        return .success(try await content(of: file, tool))
      } catch {
        return .failure(error)
      }
    }
    guard let outcome else { throw Delivery.interrupted }
    return try outcome.get()
  }

  private func content(of file: GatheredFile, _ tool: ExifTool) async throws(TransferFailure) -> CleanFile? {
    if file.isURL { return try await unknown(file, "what a server has is passed on while it arrives") }
    guard file.kind != nil else {
      return try await unknown(file, "only photos, videos and their sidecars are understood")
    }
    let (input, before) = try Self.open(file.content ?? file.path)
    let original = CleanFile(input, size: Int64(before.st_size))
    let report: LocationReport
    do throws(TransferFailure) {
      report = try await tool.report(input, size: original.size)
    } catch {
      guard error.word == "location" else { throw error }
      guard try await strips(file, nil) else { return nil }
      throw error
    }
    if report.kinds.isEmpty {
      let traces = try await Self.traces(input)
      if let problem = report.problem {
        return try await unknown(file, "exiftool could not read all of it: \(problem)")
      }
      if let found = traces.found { return try await unknown(file, "a part that exiftool does not read has \(found)") }
      guard try Self.isUnchanged(input, before) else { throw Self.changed }
      return original
    }
    guard try await strips(file, LocationKind.text(report.kinds)) else { return nil }
    let copy = try await clean(original, report, tool, before)
    guard try Self.isUnchanged(input, before) else { throw Self.changed }
    return copy
  }

  /// Makes a copy, and looks at it again.
  private func clean(
    _ original: CleanFile, _ report: LocationReport, _ tool: ExifTool, _ before: stat
  ) async throws(TransferFailure) -> CleanFile {
    let (output, input): (Int32, Int32)
    do throws(SystemFailure) {
      output = try UnnamedFile.make()
    } catch {
      throw .location("no file can be made in \(console.safe(UnnamedFile.folder)): \(ErrorNumber.text(error.number))")
    }
    let scratch = CleanFile(output, size: 0)
    (input, _) = try Self.open(LocalPath(original.path))
    // exiftool reads from the beginning: a descriptor of its own has a position of its own.
    let source = CleanFile(input, size: original.size)
    try await tool.clean(input, size: original.size, into: output)
    withExtendedLifetime(source) {}
    let (copy, status) = try Self.open(LocalPath(scratch.path))
    let checked = CleanFile(copy, size: Int64(status.st_size))
    let after = try await tool.report(copy, size: checked.size)
    let traces = try await Self.traces(copy)
    if let problem = after.problem { throw .location("exiftool could not read all of it: \(problem)") }
    guard after.kinds.isEmpty else {
      throw .location("exiftool can't take all of it out: \(LocationKind.text(after.kinds))")
    }
    if let found = traces.found { throw .location("a part that exiftool does not change has \(found)") }
    guard after.fileType == report.fileType, let digest = traces.digest else {
      throw .location("what exiftool made of it is another kind of file")
    }
    var times = [before.st_atim, before.st_mtim]
    guard futimens(output, &times) == 0 else { throw .location(ErrorNumber.text(errno)) }
    let final = try Self.open(LocalPath(scratch.path))
    return CleanFile(final.descriptor, size: Int64(final.status.st_size), identity: digest, takenOut: report.kinds)
  }

  // MARK: Deciding

  /// Decides about a file whose locations are unknown.
  /// - Returns: nil: a person wants locations kept.
  private func unknown(_ file: GatheredFile, _ why: String) async throws(TransferFailure) -> CleanFile? {
    guard try await strips(file, nil) else { return nil }
    throw .location(why)
  }

  /// Whether locations are taken out; asks a person once for all files.
  /// - Parameter kinds: what the file has, in words; nil: that is not known.
  private func strips(_ file: GatheredFile, _ kinds: String?) async throws(TransferFailure) -> Bool {
    let answer = await question.run { () async -> Decision in
      let decided = decision.withLock { $0 }
      guard decided == .open else { return decided }
      let answer = await ask(file, kinds)
      guard let answer else { return .open }
      decision.withLock { $0 = answer ? .strip : .keep }
      return answer ? .strip : .keep
    }
    switch answer {
    case .strip: return true
    case .keep: return false
    case .open, nil: throw Delivery.interrupted
    }
  }

  private func ask(_ file: GatheredFile, _ kinds: String?) async -> Bool? {
    guard let lines = TerminalLines() else { return nil }
    let name = console.safe(file.path.readable)
    let said = kinds.map { "\(name) says where it was taken: \($0)." } ?? "\(name) may say where it was taken."
    console.note(said + " The answer holds for all files.", isQuestion: true)
    let console = console
    let asked = await withTaskCancellationHandler {
      await onItsOwnThread { () -> TerminalLines.Outcome<Bool> in
        lines.flush()
        return console.answer(to: "Take the location out? [y]es / [n]o: ", from: lines) { line -> Bool? in
          switch line.lowercased().filter({ !$0.isWhitespace }) {
          case "y", "yes": true
          case "n", "no": false
          default: nil
          }
        }
      }
    } onCancel: {
      lines.cancel()
    }
    if case .hungUp = asked { await Interruption.hangUp() }
    return if case .answer(let answer) = asked { answer } else { nil }
  }

  // MARK: Files

  private static func traces(_ descriptor: Int32) async throws(TransferFailure) -> LocationTraces.Outcome {
    let outcome = await onItsOwnThread { () -> Result<LocationTraces.Outcome, SystemFailure> in
      do throws(SystemFailure) {
        return .success(try LocationTraces.look(descriptor))
      } catch {
        return .failure(error)
      }
    }
    switch outcome {
    case .success(let outcome): return outcome
    case .failure(let error): throw unreadable(error.number)
    case nil: throw unreadable(EAGAIN)
    }
  }

  private static func open(_ path: LocalPath) throws(TransferFailure) -> (descriptor: Int32, status: stat) {
    let descriptor = awaitingDescriptor {
      path.withCString { Glibc.open($0, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) }
    }
    guard descriptor >= 0 else { throw unreadable(errno) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw unreadable(EINVAL)
    }
    return (descriptor, status)
  }

  private static func isUnchanged(_ descriptor: Int32, _ before: stat) throws(TransferFailure) -> Bool {
    var now = stat()
    guard fstat(descriptor, &now) == 0 else { throw unreadable(errno) }
    return now.st_size == before.st_size && now.st_mtim.tv_sec == before.st_mtim.tv_sec
      && now.st_mtim.tv_nsec == before.st_mtim.tv_nsec && now.st_ctim.tv_sec == before.st_ctim.tv_sec
      && now.st_ctim.tv_nsec == before.st_ctim.tv_nsec
  }

  private static func unreadable(_ number: Int32) -> TransferFailure {
    TransferFailure(word: "unreadable", message: ErrorNumber.text(number), exitCode: .localFile)
  }

  private static let changed = TransferFailure(
    word: "source-changed", message: "the file has changed while it was looked at", exitCode: .localFile)
}

extension TransferFailure {
  /// A file is not sent, since what it says of its place can't be taken out, or can't be known.
  static func location(_ why: String) -> TransferFailure {
    TransferFailure(word: "location", message: "its location can't be taken out: \(why)", exitCode: .localFile)
  }
}
