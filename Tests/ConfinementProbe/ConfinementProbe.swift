import CPiconetSystem
import Glibc
import PiconetCommandLine
import PiconetRuntime
import PiconetTerminal

/// Confines itself to the first of two directories, as imagerecv does, and tries to write in both on each kind of
/// thread that imagerecv has, and in a program that it runs. Each try is a line, such as `disk outside make EACCES`.
@main struct ConfinementProbe {
  let inside: String
  let outside: String

  static func main() {
    let words = CommandLine.arguments
    guard words.count >= 3 else { exit(2) }
    let probe = ConfinementProbe(inside: words[1], outside: words[2])
    if words.count > 3 {
      probe.attempt("child")
      exit(0)
    }
    // A job of the pool before it would have threads that are not confined.
    guard Confinement.begin(WritablePlaces(directories: [LocalPath(probe.inside)])) == .confined else { exit(3) }
    probe.attempt("main")
    // This thread is the main actor's, and waits.
    Task.detached {
      await probe.attemptElsewhere()
      exit(0)
    }
    while true { pause() }
  }

  private func attemptElsewhere() async {
    attempt("pool")
    guard let loop = try? EventLoop(name: "loop"), let disk = try? WorkerThread(name: "disk") else { exit(4) }
    await loop.perform { attempt("loop") }
    await done {
      disk.submit($0)
    } attempt: {
      attempt("disk")
    }
    let store = WorkerPool(name: "store", width: 1)
    await done {
      store.submit($0)
    } attempt: {
      attempt("store")
    }
    _ = await onItsOwnThread { attempt("person") }
    runAgain()
  }

  private func done(
    _ submit: (@escaping @Sendable () -> Void) -> Bool, attempt: @escaping @Sendable () -> Void
  ) async {
    await withCheckedContinuation { continuation in
      let isTaken = submit {
        attempt()
        continuation.resume()
      }
      if !isTaken { exit(5) }
    }
  }

  /// As another program, which inherits what this one may.
  private func runAgain() {
    fflush(nil)
    let program = "/proc/self/exe"
    let texts = [program, inside, outside, "again"]
    let words: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) } + [nil]
    let variables: [UnsafeMutablePointer<CChar>?] = [nil]
    defer { for word in words { free(word) } }
    var child: pid_t = 0
    var status: Int32 = -1
    guard posix_spawn(&child, program, nil, nil, words, variables) == 0, waitpid(child, &status, 0) == child,
      status == 0
    else { exit(6) }
  }

  /// - Parameter kind: of the thread; each has a file of that name in both directories.
  private func attempt(_ kind: String) {
    for (place, folder) in [("inside", inside), ("outside", outside)] {
      let old = "\(folder)/\(kind)"
      let new = "\(folder)/new-\(kind)"
      // Inside, where the first turn has left it for the second.
      let source = "\(inside)/new-\(kind)" + (folder == inside ? "" : "-moved")
      func tell(_ act: String, _ result: Int32) {
        let name = result < 0 ? String(cString: piconet_error_name(errno)) : "ok"
        print(kind, place, act, name)
      }
      tell("make", open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
      tell("write", open(old, O_WRONLY | O_APPEND | O_CLOEXEC))
      tell("truncate", truncate(old, 0))
      tell("unnamed", open(folder, PICONET_O_TMPFILE | O_RDWR | O_CLOEXEC, 0o600))
      tell("mkdir", mkdir("\(new)-folder", 0o700))
      tell("symlink", symlink("/etc/passwd", "\(new)-link"))
      tell("mkfifo", mkfifo("\(new)-fifo", 0o600))
      tell("link", link(source, "\(new)-name"))
      tell("move", rename(source, "\(new)-moved"))
      tell("remove", unlink(old))
      tell("read", open("/etc/passwd", O_RDONLY | O_CLOEXEC))
    }
  }
}
