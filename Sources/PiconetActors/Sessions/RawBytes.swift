import Piconet

/// The bytes of a raw session between two nodes, in both directions.
public struct RawBytes: Sendable {
  /// The bytes that the other side writes.
  public let incoming: IncomingStream
  /// The bytes that the other side reads.
  public let outgoing: OutgoingStream

  /// The name of the two streams.
  public static let streamName = "piconet.raw"
}

extension Node {
  /// Returns the bytes of a raw session. Each of the two sides calls this once for each membership, and waits for the
  /// other. Nothing else may read `Session.streams` before; the program's own streams have other names.
  /// - Parameter member: the other side.
  /// - Throws: `cancelled`; `notConnected`, or why the member has left meanwhile.
  public func rawBytes(with member: Member) async throws(PiconetError) -> RawBytes {
    let changes = session.membership
    let streams = session.streams
    let outgoing = try await member.openStream(named: RawBytes.streamName)
    let incoming = await withTaskGroup(of: Result<IncomingStream, PiconetError>?.self) { group in
      group.addTask {
        for await stream in streams where stream.member == member && stream.name == RawBytes.streamName {
          return .success(stream)
        }
        return nil
      }
      group.addTask {
        for await case .left(member, let error) in changes { return .failure(error) }
        return nil
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
    guard let incoming else {
      outgoing.cancel()
      throw Task.isCancelled
        ? PiconetError(.cancelled, peer: member.id, blame: .us)
        : PiconetError(.shuttingDown, peer: member.id, blame: .us)
    }
    return RawBytes(incoming: try incoming.get(), outgoing: outgoing)
  }
}
