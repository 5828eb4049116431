import Glibc
import PiconetCommandLine

/// Has the pool in place of libdispatch's do what programs rely on, and prints a line for each thing that it did.
@main struct TaskPoolProbe {
  static func main() {
    guard TaskPool.start() else { exit(2) }
    Task.detached {
      await many()
      await sleeping()
      await cancelled()
      await blocked()
      await resting()
      exit(0)
    }
    while true { pause() }
  }

  /// The names of this process's threads.
  private static func threads() -> [String] {
    guard let folder = opendir("/proc/self/task") else { exit(3) }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let number = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard Int(number) != nil, let file = fopen("/proc/self/task/\(number)/comm", "r") else { continue }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 64)
      if fgets(&line, 64, file) != nil {
        names.append(String(decoding: line.prefix { $0 > 32 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
      }
    }
    return names.sorted()
  }

  private static func say(_ line: String) { _ = "\(line)\n".withCString { write(STDOUT_FILENO, $0, strlen($0)) } }

  /// Every one of many jobs runs, however often each gives way.
  private static func many() async {
    let sum = await withTaskGroup(of: Int.self) { group in
      for number in 1...2_000 {
        group.addTask {
          for _ in 0..<10 { await Task.yield() }
          return number
        }
      }
      return await group.reduce(0, +)
    }
    say("many \(sum)")
  }

  /// Those that sleep wake in the order of their times, and not before them.
  private static func sleeping() async {
    var order: [Int] = []
    var isEarly = false
    await withTaskGroup(of: (Int, Bool).self) { group in
      for place in [3, 1, 4, 0, 2] {
        // Apart enough for a machine that is busy with others.
        let end = ContinuousClock.now + .milliseconds(500 * place)
        group.addTask {
          try? await Task.sleep(until: end, clock: .continuous)
          return (place, .now < end)
        }
      }
      for await (place, early) in group {
        order.append(place)
        isEarly = isEarly || early
      }
    }
    try? await Task.sleep(nanoseconds: 1_000_000)
    say("sleeping \(order) early \(isEarly)")
  }

  /// A sleep that is cancelled ends, and one that is too long for any clock does no harm.
  private static func cancelled() async {
    let tasks = [Duration.seconds(3_600), .seconds(1 << 40)].map { time in
      Task {
        do { try await ContinuousClock().sleep(for: time) } catch { return true }; return false
      }
    }
    await Task.yield()
    for task in tasks { task.cancel() }
    var ended: [Bool] = []
    for task in tasks { ended.append(await task.value) }
    say("cancelled \(ended)")
  }

  /// Jobs that block their threads, more than there are processors, keep no other from running.
  private static func blocked() async {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { exit(4) }
    let (read, written) = (ends[0], ends[1])
    let count = max(8, 2 * Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    let came = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<count {
        group.addTask {
          var byte: UInt8 = 0
          return Glibc.read(read, &byte, 1)
        }
      }
      group.addTask { write(written, [UInt8](repeating: 0, count: count), count) == count ? 0 : -1_000 }
      return await group.reduce(0, +)
    }
    say("blocked \(came == count)")
  }

  /// Afterwards the threads end, and no other threads ran but these and the main one.
  private static func resting() async {
    let foreign = threads().filter { !$0.hasPrefix("piconet-") }.count
    // When it wakes there are new ones: that which wakes it, and that which it runs on.
    repeat {
      try? await ContinuousClock().sleep(for: .seconds(6))
    } while threads().filter { $0 == "piconet-task" }.count > 2
    say("resting, foreign \(foreign)")
  }
}
