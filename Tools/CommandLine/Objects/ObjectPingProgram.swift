import Piconet
import PiconetActors

/// `piconet ping PEER PATH`: asks an object, or at `/` a program's actor system, for a sign of life, again and again.
struct ObjectPingProgram: Sendable {
  let arguments: PingArguments
  let path: String
  let environment: ProgramEnvironment
  let console: Console

  func run() async {
    let link = ObjectLink(arguments: arguments.link, environment: environment, console: console)
    await link.run { system, member in
      let name = console.name(member.proven)
      console.result(
        "PING \(path) of \(name) (\(member.proven.fingerprint.shortDescription)) over \(member.proven.transport), "
          + "\(console.safe(member.proven.remoteAddress))")
      var statistics = PingStatistics()
      let failure = await ask(RemoteObjectID(member.id, path), system, name, &statistics)
      let figures = await system.node.session.statistics(for: member)
      let transport = figures?.transport ?? member.proven.transport
      for line in statistics.summary(name: "\(path) of \(name)", transport: "\(transport)") {
        console.result(line, evenIfQuiet: true)
      }
      if let failure, failure.code != .timedOut || statistics.received == 0 { throw failure }
      if statistics.received == 0, Task.isCancelled { throw Delivery.interrupted }
    }
  }

  /// - Returns: why it ended before its time, or what the last ping lacked; nil: it has pinged as often as it was to,
  ///   or was interrupted.
  private func ask(
    _ object: RemoteObjectID, _ system: PiconetActorSystem, _ name: String, _ statistics: inout PingStatistics
  ) async -> RemoteCallError? {
    var failure: RemoteCallError?
    var due = ContinuousClock.now
    while arguments.count.map({ statistics.sent < $0 }) ?? true, !Task.isCancelled {
      let number = statistics.send(at: .now)
      do throws(RemoteCallError) {
        try await system.ping(.object(object), within: arguments.link.timeout)
        failure = nil
        let time = statistics.receive(number, at: .now) ?? .zero
        console.result("answer of \(path) of \(name): seq=\(number) time=\(PingStatistics.text(time)) ms")
      } catch {
        if Task.isCancelled {
          statistics.takeBack(number)
          return nil
        }
        failure = error
        guard error.code == .timedOut else { return error }
        console.result("no answer of \(path) of \(name): seq=\(number)")
      }
      if let count = arguments.count, statistics.sent >= count { break }
      due = max(due + arguments.interval, .now)
      try? await ContinuousClock().sleep(until: due)
    }
    return failure
  }
}
