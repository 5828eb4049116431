extension Node {
  /// Makes the node available and keeps it so until the calling task is cancelled, or `stop` is called elsewhere; then
  /// ends it in good order, as `stop` does, and returns. Cancelling is the ordinary way to end it and not an error, as
  /// service lifecycles expect of what they run.
  ///
  /// What the program does with invitations, messages and offers runs beside it, in tasks of its own; their sequences
  /// end with the node.
  ///
  /// ```swift
  /// struct ChatService: Service {
  ///   let node: Node
  ///   func run() async throws {
  ///     try await cancelWhenGracefulShutdown { try await node.serve() }
  ///   }
  /// }
  /// ```
  /// - Throws: as `setAvailable`; the node is then stopped.
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
