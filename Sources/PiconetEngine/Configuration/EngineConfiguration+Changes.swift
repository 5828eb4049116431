import PiconetWire

/// Settings that may change while a session runs. Each change is checked and answered.
extension EngineConfiguration {
  /// Sets the name. Links that have said hello keep the name stated there.
  mutating func setName(_ id: CommandID, _ name: String, _ turn: Turn) {
    do throws(InvalidConfiguration) {
      try Self.check(name: name)
      self.name = name
      turn.reply(id, .done)
    } catch {
      turn.reply(id, .failed(Ending(.limitExceeded, .us, error.rule)))
    }
  }

  /// - Returns: false if the change was refused and answered.
  mutating func setDisconnectTimeout(_ id: CommandID, _ timeout: Duration, _ turn: Turn) -> Bool {
    guard Self.isDisconnectTimeout(timeout) else {
      turn.reply(id, .failed(Ending(.limitExceeded, .us, Self.disconnectTimeoutRule)))
      return false
    }
    disconnectTimeout = timeout
    return true
  }
}
