/// The engine's trace: everything that it takes and answers, from its first fact on.
extension SessionEngine {
  /// Starts the recording. Call it before the first fact, or the trace would not have the whole run.
  /// - Parameters:
  ///   - limit: the maximum number of bytes of the whole trace. The recording ends with `sizeLimit` before it would
  ///     grow beyond that.
  ///   - redacted: whether contents of messages and files are replaced by zeros.
  public mutating func startRecording(limit: UInt64, redacted: Bool = false) {
    let header = TraceHeader(
      identity: LocalIdentity(node: node), configuration: configuration, seed: seed, isRedacted: redacted)
    recorder = TraceRecorder(header, limit: limit)
  }

  /// Bytes of the trace that wait to be taken.
  public var recordedCount: Int { recorder?.count ?? 0 }

  /// Returns what was recorded since the last call. The driver takes it after each round, so that it stays small.
  public mutating func takeRecording() -> [UInt8] { recorder?.takeBytes() ?? [] }

  /// Ends the recording. Its remaining bytes can still be taken.
  public mutating func endRecording(_ end: TraceEnd) { recorder?.end(end) }
}
