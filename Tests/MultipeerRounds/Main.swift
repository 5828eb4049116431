import MultipeerConnectivity

/// `multipeer-rounds --processes N --rounds N` starts so many processes of itself, in each round of which everybody
/// invites everybody and accepts everybody, and holds what their delegates were told against what it has to be. It
/// prints what was wrong, and ends with 1 then.
///
/// They use `lo` alone; with `PICONET_BUSES` set, as in `Tools/bluetooth-vm --hosts`, they use Bluetooth alone, each
/// with a host's adapter.
@main enum Main {
  static func main() {
    let arguments = CommandLine.arguments
    switch arguments.count {
    case 4 where arguments[1] == "--peer":
      guard let count = Int(arguments[3]) else { exit(2) }
      RoundPeer(name: arguments[2], count: count).follow()
    case 5 where arguments[1] == "--processes" && arguments[3] == "--rounds":
      guard let processes = Int(arguments[2]), let rounds = Int(arguments[4]), (2...8).contains(processes) else {
        exit(2)
      }
      let conductor = Conductor(processes)
      do {
        for round in 1...max(1, rounds) { try conductor.play(round) }
        conductor.end()
        print("\(processes) processes, \(rounds) rounds: all were told what happened, once, in order")
      } catch {
        conductor.end()
        print(error)
        exit(1)
      }
    default:
      print("usage: multipeer-rounds --processes N --rounds N")
      exit(2)
    }
  }
}
