import PiconetRuntime

/// The threads of a host, for all its nodes: the loop, one that disks may block, and one that looks names up.
struct HostThreads: Sendable {
  let loop: EventLoop
  let worker: WorkerThread
  let resolver: WorkerThread

  init() throws(SystemError) {
    loop = try EventLoop(name: "piconet")
    do throws(SystemError) {
      worker = try WorkerThread(name: "piconet-disk", limit: 16_384)
    } catch {
      loop.stop()
      throw error
    }
    do throws(SystemError) {
      resolver = try WorkerThread(name: "piconet-names", limit: 64)
    } catch {
      worker.stop()
      loop.stop()
      throw error
    }
  }

  /// Waits for the end of all three; may take as long as the calls that are on their way.
  func stop() {
    resolver.stop()
    worker.stop()
    loop.stop()
  }
}
