/// The threads that disk access may block.
public struct DiskThreads: Sendable {
  /// Reads, writes and hashes, in the order of the requests.
  public let worker: WorkerThread
  /// For commits, each of which waits for the disk more than once: several at a time share these waits, since a file
  /// system makes durable together what is requested together.
  public let committers: WorkerPool
  /// For files to be sent, each in a lane of its own: one on a disk that hangs holds up no other.
  public let readers: ReadingThreads

  public init(
    worker: WorkerThread, committers: WorkerPool, readers: ReadingThreads = ReadingThreads(name: "piconet-read")
  ) {
    self.worker = worker
    self.committers = committers
    self.readers = readers
  }

  /// Any thread. Waits until everything submitted before has run.
  public func finishSubmitted() async {
    await worker.finishSubmitted()
    await committers.finishSubmitted()
    await readers.finishSubmitted()
  }

  /// Any thread but these. Runs the waiting work, and waits until all of them have ended.
  public func stop() {
    committers.stop()
    readers.stop()
    worker.stop()
  }
}
