import Glibc

/// Phil Harvey's exiftool, in a process without rights: it reads one file from its standard input and writes to its
/// standard output. No name of a file ever reaches it.
struct ExifTool: Sendable {
  /// Debian's package of it.
  static let package = "libimage-exiftool-perl"
  private static let reportLimit = 256 << 10

  let path: String

  /// Finds the first one in PATH; nil if PATH has none.
  static func find(_ variable: (String) -> String?) -> ExifTool? {
    for folder in (variable("PATH") ?? "/usr/bin").split(separator: ":") where folder.hasPrefix("/") {
      let path = "\(folder)/exiftool"
      if access(path, X_OK) == 0 { return ExifTool(path: path) }
    }
    return nil
  }

  /// Returns the location data of a file, including its embedded pictures and films.
  func report(_ input: Int32, size: Int64) async throws(TransferFailure) -> LocationReport {
    let words = ["-S", "-G1", "-a", "-ee3"] + LocationKind.tags.map { "-" + $0 } + ["-FileType", "-Warning", "-Error"]
    let process = process(words, size)
    switch await process.run(input: input, output: .collected(atMost: Self.reportLimit)) {
    case .ended(_, let output, let errors):
      let report = LocationReport(String(decoding: output, as: UTF8.self))
      if report.fileType == nil, report.problem == nil { throw Self.failure(errors) }
      return report
    case let outcome: throw Self.failure(outcome)
    }
  }

  /// Copies a file without its location data. Everything else stays as it is, the picture byte for byte.
  func clean(_ input: Int32, size: Int64, into output: Int32) async throws(TransferFailure) {
    let process = process(["-q", "-q"] + LocationKind.tags.map { "-\($0)=" } + ["-o", "-"], size)
    switch await process.run(input: input, output: .file(output)) {
    case .ended(0, _, _): return
    case .ended(_, _, let errors): throw Self.failure(errors)
    case let outcome: throw Self.failure(outcome)
    }
  }

  private func process(_ words: [String], _ size: Int64) -> ConfinedProcess {
    let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
    var process = ConfinedProcess(
      // No configuration file: it would be run.
      words: [path, "-config", ""] + words.prefix { $0 != "-o" } + ["-api", "largefilesupport=1"]
        + words.drop { $0 != "-o" } + ["/proc/self/fd/0"],
      readable: [
        folder, folder + "/lib", "/usr/bin", "/usr/lib", "/lib", "/lib64", "/usr/share/perl", "/usr/share/perl5",
        "/usr/local/lib", "/usr/local/share/perl", "/etc/perl", "/etc/ld.so.cache", "/dev/null",
      ],
      // The same input gives the same output, byte for byte.
      variables: ["PATH=/usr/bin", "LC_ALL=C.UTF-8", "PERL_HASH_SEED=0", "TZ=UTC"],
      time: .seconds(60 + size >> 23))
    process.writtenLimit = UInt64(clamping: size) + UInt64(clamping: size) / 8 + 1 << 20
    return process
  }

  private static func failure(_ errors: [UInt8]) -> TransferFailure {
    let text = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).first ?? "it has failed"
    return failure(String(text.replacing(" - /proc/self/fd/0", with: "")))
  }

  private static func failure(_ outcome: ConfinedProcess.Outcome) -> TransferFailure {
    switch outcome {
    case .cancelled: Delivery.interrupted
    case .failed(let reason): failure("it can't be run, confined: \(reason)")
    case .tookTooLong: failure("it took too long")
    case .wroteTooMuch: failure("it wrote too much")
    case .died(let signal): failure("it was ended by signal \(signal)")
    case .ended(let status, _, _): failure("it ended with \(status)")
    }
  }

  private static func failure(_ why: String) -> TransferFailure {
    .location("exiftool: \(why)")
  }
}
