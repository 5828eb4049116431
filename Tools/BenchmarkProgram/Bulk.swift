import Glibc
import Piconet

/// One file from the client to the server, verified and stored.
struct Bulk {
  let options: BenchmarkOptions

  func run() async throws {
    try await BothEnds.run(options) { node, member in
      if options.isServer { try await receive(node) } else { try await send(member) }
    }
  }

  private func send(_ member: Member) async throws {
    let measurement = Measurement()
    let sent = try await member.send(.file(options.file))
    measurement.report(options, ",\"bytes\":\(sent.size),\"sha256\":true")
  }

  /// `--out` names the file; the sender's name for it must not matter.
  private func receive(_ node: Node) async throws {
    let folder = options.out + ".folder"
    guard mkdir(folder, 0o700) == 0 else { throw BenchmarkFailure("can't make \(folder)") }
    defer { rmdir(folder) }
    let directory = try await node.receivingDirectory(at: folder)
    let measurement = Measurement()
    for await offer in node.session.offers {
      let stored = try await offer.store(in: directory)
      measurement.report(options, ",\"bytes\":\(stored.size),\"sha256\":true")
      guard rename(stored.path, options.out) == 0 else { throw BenchmarkFailure("can't rename \(stored.path)") }
      break
    }
    for await case .left in node.session.membership { break }
  }
}
