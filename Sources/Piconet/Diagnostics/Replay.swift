import Glibc
import PiconetEngine
import PiconetRuntime

/// The result of running the protocol over a trace again.
public struct Replay: Sendable, Hashable {
  /// The number of facts taken from the trace.
  public let facts: Int
  /// The number of effects compared.
  public let effects: Int
  /// The first effect that differs from the trace, with the fact before it; nil if all are the same.
  public let difference: String?
  /// Why the recording ended; nil if it was cut off, as by a crash.
  public let ending: String?
  /// The number of bytes at the end that form no whole record: the file was cut off in the middle of one.
  public let cutCount: Int
  /// Whether contents were replaced by zeros.
  public let isRedacted: Bool

  /// Replays a trace file. Blocks the thread until all of it is read; no node is needed.
  /// - Throws: `sourceUnreadable` if the file can't be read, `invalidArgument` if it is not a trace that this version
  ///   of Piconet reads, or bytes in it were changed; the detail then says where.
  public static func run(file path: String) throws(PiconetError) -> Replay {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw unreadable(path, SystemError("open", errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(path, SystemError("fstat", errno)) }
    if status.st_mode & S_IFMT == S_IFDIR { throw unreadable(path, SystemError("read", EISDIR)) }
    var decoder = TraceDecoder()
    do throws(TraceError) {
      // The header comes with the first record.
      var next: TraceRecord?
      while next == nil {
        guard try push(descriptor, path, &decoder) else { break }
        next = try decoder.next()
      }
      guard let header = decoder.header else { throw TraceError.notATrace }
      var replay = TraceReplay(header)
      var difference: TraceReplay.Difference?
      while difference == nil {
        if let record = next {
          difference = replay.take(record)
          next = try decoder.next()
        } else if try push(descriptor, path, &decoder) {
          next = try decoder.next()
        } else {
          difference = replay.finish(isCut: replay.end == nil || decoder.bufferedCount > 0)
          break
        }
      }
      return Replay(
        facts: replay.counts.facts, effects: replay.counts.effects, difference: difference.map { "\($0)" },
        ending: replay.end.map(words), cutCount: decoder.bufferedCount, isRedacted: header.isRedacted)
    } catch {
      throw PiconetError(.invalidArgument, blame: .us, detail: "\(path): \(error)", underlying: error)
    }
  }

  private static func words(_ end: TraceEnd) -> String {
    switch end {
    case .complete: "complete"
    case .sizeLimit: "ended at the limit of its size"
    case .tooFast: "ended because the disk was too slow"
    case .recordLimit: "ended before a record above the limit"
    }
  }

  /// - Returns: false at the end of the file.
  private static func push(
    _ descriptor: Int32, _ path: String, _ decoder: inout TraceDecoder
  ) throws(TraceError) -> Bool {
    var count = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 1 << 20) { buffer, used in
      repeat { count = read(descriptor, buffer.baseAddress, buffer.count) } while count < 0 && errno == EINTR
      used = max(0, count)
    }
    if count < 0 { throw TraceError.malformed("\(SystemError("read", errno))") }
    decoder.push(bytes)
    return count > 0
  }

  private static func unreadable(_ path: String, _ error: SystemError) -> PiconetError {
    PiconetError(.sourceUnreadable, blame: .us, detail: "\(path): \(error)", underlying: error)
  }
}
