import PiconetRuntime

/// The threads of a host, for all its nodes: the loop, and one that disks may block; while received files are
/// committed, some more of those; and while names are looked up, one for that.
struct HostThreads: Sendable {
  let loop: EventLoop
  let disk: DiskThreads
  let resolver: WorkerPool

  /// Files that are made durable at once. More gain nothing: a file system writes them out together.
  private static let commitsAtOnce = 8
  /// Each one that waits has descriptors open. Beyond this limit files are committed on the disk thread, which also
  /// opens them, so they can't be opened faster than they are stored.
  private static let waitingCommits = 128

  init() throws(SystemError) {
    loop = try EventLoop(name: "piconet")
    do throws(SystemError) {
      disk = DiskThreads(
        worker: try WorkerThread(name: "piconet-disk", limit: 16_384),
        committers: WorkerPool(name: "piconet-store", width: Self.commitsAtOnce, limit: Self.waitingCommits))
    } catch {
      loop.stop()
      throw error
    }
    resolver = WorkerPool(name: "piconet-names", width: 1, limit: 64)
  }

  /// Waits for the end of all; may take as long as the calls that are on their way.
  func stop() {
    resolver.stop()
    disk.stop()
    loop.stop()
  }
}
