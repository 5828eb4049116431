import PiconetWire

// A new setting goes into `write` and `read` at the same place; a test compares their number with that of the settings.
extension EngineConfiguration: TraceCoded {
  func write(to bytes: inout TraceBytes) {
    bytes(sessionID, name, capacity, messageLimit, messageWindow, frameLimit, transferLimit, transferWindow)
    bytes(transferMemory, smallestTransferWindow, readSize, transmitWindow)
    bytes(disconnectTimeout, handshakeTimeout, idleTimeout, leaveTimeout)
    bytes(handshakeLimit, associationLimit, sightingLimit, transports, transportHeadStart)
    bytes(removals, deliversLateMessages, streamLimit, streamWindow, firstStreamWindow, streamMemory)
    bytes(movesBetweenTransports, idleMemberTimeout, openInvitations, greeting)
    bytes(channelLimit, channelWindow, channelPriorities, membership, relaying, holdsIntroducedInvitations)
    bytes(comparesCodes, refusalEndsMembers, introducesOverLoopback)
  }

  static func read(from reader: inout TraceReader) throws(TraceError) -> EngineConfiguration {
    var settings = EngineConfiguration(sessionID: try reader(), name: try reader())
    settings.capacity = try reader()
    settings.messageLimit = try reader()
    settings.messageWindow = try reader()
    settings.frameLimit = try reader()
    settings.transferLimit = try reader()
    settings.transferWindow = try reader()
    settings.transferMemory = try reader()
    settings.smallestTransferWindow = try reader()
    settings.readSize = try reader()
    settings.transmitWindow = try reader()
    settings.disconnectTimeout = try reader()
    settings.handshakeTimeout = try reader()
    settings.idleTimeout = try reader()
    settings.leaveTimeout = try reader()
    settings.handshakeLimit = try reader()
    settings.associationLimit = try reader()
    settings.sightingLimit = try reader()
    settings.transports = try reader()
    settings.transportHeadStart = try reader()
    settings.removals = try reader()
    settings.deliversLateMessages = try reader()
    settings.streamLimit = try reader()
    settings.streamWindow = try reader()
    settings.firstStreamWindow = try reader()
    settings.streamMemory = try reader()
    settings.movesBetweenTransports = try reader()
    settings.idleMemberTimeout = try reader()
    settings.openInvitations = try reader()
    settings.greeting = try reader()
    settings.channelLimit = try reader()
    settings.channelWindow = try reader()
    settings.channelPriorities = try reader()
    settings.membership = try reader()
    settings.relaying = try reader()
    settings.holdsIntroducedInvitations = try reader()
    settings.comparesCodes = try reader()
    settings.refusalEndsMembers = try reader()
    settings.introducesOverLoopback = try reader()
    return settings
  }
}
