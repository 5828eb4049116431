import MultipeerConnectivity

/// `multipeer-rounds --processes N --rounds N` starts so many processes of itself. In each round all of them invite
/// and accept one another, and the program compares what their delegates were told with what it has to be. If
/// anything was wrong, it prints that and ends with 1.
///
/// With `--end killed` or `--end exits` the last process of each round ends so, and how long it takes until the others
/// are told is printed; more than `--within` seconds are wrong.
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
    case 9
    where arguments[1] == "--processes" && arguments[3] == "--rounds" && arguments[5] == "--end"
      && arguments[7] == "--within":
      guard let processes = Int(arguments[2]), let rounds = Int(arguments[4]), (2...8).contains(processes),
        let end = Conductor.End(rawValue: arguments[6]), let limit = Double(arguments[8])
      else { exit(2) }
      playEnds(processes, rounds: rounds, end, within: limit)
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
      print("usage: multipeer-rounds --processes N --rounds N [--end killed|exits --within SECONDS]")
      exit(2)
    }
  }

  private static func playEnds(_ processes: Int, rounds: Int, _ end: Conductor.End, within limit: Double) {
    // A process that has ended reads nothing more.
    signal(SIGPIPE, SIG_IGN)
    var longest = 0.0
    for round in 1...max(1, rounds) {
      let conductor = Conductor(processes)
      do {
        longest = max(longest, try conductor.playEnd(end))
        conductor.end()
      } catch {
        conductor.end()
        print("round \(round): \(error)")
        exit(1)
      }
    }
    print("\(processes) processes, \(rounds) rounds: the last one was told after \(longest) s at most")
    if longest > limit { exit(1) }
  }
}
