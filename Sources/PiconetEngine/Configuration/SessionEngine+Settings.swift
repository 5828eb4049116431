import PiconetWire

/// Settings that may change while a session runs.
extension SessionEngine {
  /// Links that have said hello keep the name that they gave in it.
  mutating func setName(_ id: CommandID, _ name: String, _ turn: Turn) {
    do throws(InvalidConfiguration) {
      try EngineConfiguration.check(name: name)
      configuration.name = name
      turn.reply(id, .done)
    } catch {
      turn.reply(id, .failed(Ending(.limitExceeded, .us, error.rule)))
    }
  }

  mutating func setDisconnectTimeout(_ id: CommandID, _ timeout: Duration, _ turn: Turn) {
    guard EngineConfiguration.isDisconnectTimeout(timeout) else {
      turn.reply(id, .failed(Ending(.limitExceeded, .us, EngineConfiguration.disconnectTimeoutRule)))
      return
    }
    configuration.disconnectTimeout = timeout
    for association in associations.values { association.setDisconnectTimeout(timeout) }
    for link in links.values { link.setDisconnectTimeout(timeout) }
    for association in associations.inOrder { search(.timePassed, for: association.node, turn) }
    turn.reply(id, .done)
  }
}
