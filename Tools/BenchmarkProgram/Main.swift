import Glibc
import Piconet

/// Piconet's side of the benchmark: the same modes, options and JSON line as `tls-baseline`, two processes over
/// 127.0.0.1.
@main
struct Main {
  static func main() async {
    do {
      let options = try BenchmarkOptions(CommandLine.arguments)
      try options.pin()
      switch options.mode {
      case .pingpong: try await PingPong(options: options).run()
      case .bulk: try await Bulk(options: options).run()
      case .rate: try await Rate(options: options).run()
      case .stream: try await StreamRate(options: options).run()
      case .lanes: try await Lanes(options: options).run()
      case .failover: try await Failover(options: options).run()
      case .peers: try await Peers(options: options).run()
      case .middle: try await Middle(options: options).run()
      case .group: try await GroupCost(options: options).run()
      case .calls: try await Calls(options: options).run()
      }
    } catch {
      let complaint = Array("piconet-benchmark: \(error)\n".utf8)
      write(STDERR_FILENO, complaint, complaint.count)
      exit(1)
    }
  }
}
