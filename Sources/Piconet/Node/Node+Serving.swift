extension Node {
  /// Makes the node available and keeps it so until the calling task is cancelled, or `stop` is called elsewhere. It
  /// then ends the node in good order, as `stop` does, and returns. Cancelling is the ordinary way to end it and not an
  /// error, as service lifecycles expect.
  ///
  /// The program handles invitations, messages and offers in its own tasks beside this call; their sequences end with
  /// the node.
  ///
  /// ```swift
  /// struct ChatService: Service {
  ///   let node: Node
  ///   func run() async throws {
  ///     try await cancelWhenGracefulShutdown { try await node.serve() }
  ///   }
  /// }
  /// ```
  /// - Throws: see `setAvailable`; the node is then stopped.
  public func serve() async throws(PiconetError) {
    do throws(PiconetError) {
      if !Task.isCancelled { try await setAvailable(true) }
    } catch {
      await stop()
      throw error
    }
    await core.waitUntilFinishedOrCancelled()
    await stop()
  }
}
