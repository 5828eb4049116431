import Foundation

/// One round: the processes, and what they have to say.
final class DepartureRun {
  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  private let plan: Plan
  private let players: [Player]
  /// How often each process has sent to all.
  private var sendings = 0
  /// More than becoming one session may take on a machine that is busy with other things.
  private static let patience = 120.0

  init(_ plan: Plan) {
    self.plan = plan
    let names = ["Anna", "Ben", "Carl", "Dora", "Emil", "Fay", "Gus", "Hana"].prefix(plan.peers)
    let sessionID = "departures-\(UInt64.random(in: 0 ... .max))"
    players = names.enumerated().map { Player($1, plan.mixture.mode($0), sessionID, number: $0) }
  }

  private var goer: Player { plan.departure.isOfHost ? players[0] : players[players.count - 1] }
  private var others: [Player] { players.filter { $0 !== goer } }

  /// - Returns: how long it took.
  func play() throws -> String {
    let start = monotonicSeconds()
    for player in players { player.start() }
    if plan.departure == .killedEarly { return try playEarlyKill() }
    for player in players {
      for other in players where other !== player { try wait(for: "connected \(other.name)", of: player) }
    }
    let connected = monotonicSeconds() - start
    for player in players { player.write("settle") }
    for player in players { try wait(for: "settled", of: player) }
    for player in players { try waitForDirectLinks(of: player) }
    let direct = monotonicSeconds() - start
    try sendToAll(of: players)
    let told = try depart()
    try sendToAll(of: others)
    try checkCalm()
    return String(format: "connected %.2f s, directly %.2f s, told %.3f s", connected, direct, told)
  }

  /// The process of the last one ends as soon as one of the others is told that it is connected. Some are never told.
  private func playEarlyKill() throws -> String {
    try wait(for: "connected \(players[0].name)", of: goer)
    goer.signal(SIGKILL)
    let start = monotonicSeconds()
    for player in others { player.write("settle") }
    func holds(_ lines: [Player.Line]) -> Bool {
      func count(_ words: String) -> Int { lines.count { $0.words == "\(words) \(goer.name)" } }
      return count("connected") != count("disconnected")
    }
    // Waits a moment: a peer that is introduced now may connect only later, and nothing tells that none will.
    usleep(2_000_000)
    for other in others { _ = other.wait(until: start + plan.limit) { !holds($0) } }
    if let holder = others.first(where: { holds($0.said) }) { throw wrong("\(holder.name) still has \(goer.name)") }
    let times = others.flatMap(\.said).filter { $0.words == "disconnected \(goer.name)" }.map(\.time)
    return String(
      format: "%d of %d told, the last after %.3f s", times.count, others.count, (times.max() ?? start) - start)
  }

  private func waitForDirectLinks(of player: Player) throws {
    let end = monotonicSeconds() + Self.patience
    let wanted = "state 0 " + players.filter { $0 !== player }.map(\.name).sorted().joined(separator: " ")
    var asked = 0
    while monotonicSeconds() < end {
      player.write("state")
      asked += 1
      guard player.wait(until: end, { $0.filter { $0.words.hasPrefix("state ") }.count >= asked }) else { break }
      if player.said.last(where: { $0.words.hasPrefix("state ") })?.words == wanted { return }
      // GKSession does not report that a link has become direct, so it is asked again.
      usleep(20_000)
    }
    throw wrong("\(player.name) does not reach all directly")
  }

  /// Each of them sends to all, which reaches each of the others.
  private func sendToAll(of players: [Player]) throws {
    sendings += 1
    for player in players { player.write("send") }
    for player in players {
      for other in players where other !== player {
        try wait(for: "data \(other.name) hello", times: sendings, of: player)
      }
    }
  }

  /// - Returns: how long it took until the last one was told.
  private func depart() throws -> Double {
    if plan.departure == .unreachable {
      for player in others { player.write("timeout") }
      for player in others { try wait(for: "timed", of: player) }
    }
    let start = monotonicSeconds()
    switch plan.departure {
    case .leave, .hostLeaves: goer.write("leave")
    case .kick: players[0].write("kick \(goer.name)")
    case .guestKicks: players[1].write("kick \(goer.name)")
    case .kickUnreachable:
      goer.signal(SIGSTOP)
      players[0].write("kick \(goer.name)")
    case .unreachable:
      goer.signal(SIGSTOP)
      try sendToAll(of: others)
    case .killed, .hostKilled, .killedEarly: goer.signal(SIGKILL)
    case .exits: goer.write("exit")
    }
    for player in others { try wait(for: "disconnected \(goer.name)", of: player) }
    if plan.departure.isTold {
      for player in others { try wait(for: "disconnected \(player.name)", of: goer) }
    }
    let all = players.flatMap(\.said).filter { $0.words.hasPrefix("disconnected ") }
    let last = (all.map(\.time).max() ?? start) - start
    // That is told as a failure, too.
    if plan.departure == .unreachable,
      !others.allSatisfy({ $0.said.contains { $0.words.hasPrefix("failed \(goer.name)") } })
    {
      throw wrong("not all are told why")
    }
    if last > plan.limit + (plan.departure == .unreachable ? Plan.disconnectTimeout : 0) {
      throw wrong(String(format: "the last one was told after %.3f s", last))
    }
    return last
  }

  /// Checks that the others have stayed together, and that none was told anything twice.
  private func checkCalm() throws {
    for player in players {
      let lost = player.said.filter { $0.words.hasPrefix("disconnected ") }.map(\.words)
      let wanted = player === goer ? (plan.departure.isTold ? others.map(\.name) : nil) : [goer.name]
      guard let wanted else { continue }
      if lost.sorted() != wanted.map({ "disconnected \($0)" }).sorted() {
        throw wrong("\(player.name) has lost \(lost)")
      }
    }
  }

  private func wait(for words: String, times: Int = 1, of player: Player) throws {
    let isMet = player.wait(until: monotonicSeconds() + Self.patience) { said in
      said.filter { $0.words == words }.count >= times
    }
    if !isMet { throw wrong("\(player.name) does not say '\(words)'") }
  }

  private func wrong(_ what: String) -> Wrong {
    let said = players.map { player in
      "\(player.name):" + player.said.map { String(format: "\n  %.3f ", $0.time) + $0.words }.joined()
    }
    return Wrong(description: ([what] + said).joined(separator: "\n"))
  }

  func end() { for player in players { player.end() } }
}
