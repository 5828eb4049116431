extension Member {
  /// Sends a resource and returns once the remote side has *stored* it: on its disk, verified, under its name, or in
  /// its memory (`IncomingOffer.read`). The content goes in chunks, behind all messages. Cancelling the calling task
  /// cancels the transfer on both sides.
  /// - Throws: `invalidArgument` with the rule that a part of the resource breaks; `sourceUnreadable`, for a URL with
  ///   the fault, such as the server's status or a certificate that the system does not trust; `nameRefused` if no name
  ///   was given and no receiver would store the file's own; `sourceChanged`; the receiver's reason; why the member has
  ///   left.
  @discardableResult
  public func send(_ resource: Resource) async throws(PiconetError) -> SentResource {
    try await core.finish(startSending(resource))
  }

  /// Starts sending as `send` does, but returns as soon as the resource is open and its size is known: the transfer can
  /// then be watched, paused and cancelled.
  public func startSending(_ resource: Resource) async throws(PiconetError) -> OutgoingTransfer {
    try await core.send(resource, to: self)
  }
}
