import PiconetRuntime

/// The threads of a host, shared by its nodes: the loop, and one thread for blocking disk access. More disk threads run
/// while received files are committed, and one more while names are looked up.
struct HostThreads: Sendable {
  let loop: EventLoop
  let disk: DiskThreads
  let resolver: WorkerPool

  /// The number of files made durable at once. More gain nothing: a file system writes them out together.
  private static let commitsAtOnce = 8
  /// The number of files that may wait to be committed; each has descriptors open. Beyond this limit files are
  /// committed on the disk thread. That thread also opens them, so they can't be opened faster than they are stored.
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

  /// Waits until all threads have ended; this may take as long as the calls that are under way.
  func stop() {
    resolver.stop()
    disk.stop()
    loop.stop()
  }
}
