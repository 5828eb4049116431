import Glibc

/// The descriptors that this process has open, including the one that counting takes.
package func descriptorCount() -> Int { directoryNames("/proc/self/fd").count }

/// The names of the threads of this process.
package func threadNames() -> [String] {
  directoryNames("/proc/self/task").compactMap { id in
    guard let file = fopen("/proc/self/task/\(id)/comm", "r") else { return nil }
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}

private func directoryNames(_ path: String) -> [String] {
  guard let directory = opendir(path) else { return [] }
  defer { closedir(directory) }
  var names: [String] = []
  while let entry = readdir(directory) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != "." && name != ".." { names.append(name) }
  }
  return names
}
