import CPiconetSystem
import Glibc
import Piconet

/// What is wrong with the command line, or with what a measurement found.
struct BenchmarkFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// `piconet-benchmark pingpong|bulk|rate|stream|lanes|failover|peers|calls|middle|group --server|--client [--port N]
/// [--cpu N] [--over relay|copy] [--size N] [--count N] [--file F] [--out D] [--peers N] [--seconds N]
/// [--on-node-thread] [--untimed]`, between two network namespaces with `--listen HOST` and `--address HOST:PORT`; over
/// Bluetooth with `--transport l2cap|rfcomm --adapter hciN`, and, for the client, `--address` with what the server
/// printed.
struct BenchmarkOptions {
  enum Mode: String { case pingpong, bulk, rate, stream, lanes, failover, peers, calls, middle, group }

  var mode: Mode
  var isServer = false
  var port = 0
  var cpu: Int?
  var size = 64
  var count = 20_000
  /// Keeps no times of round trips, and sorts none: for counting instructions.
  var isUntimed = false
  var file = ""
  var out = ""
  var transport = TransportKind.tcp
  var adapter: String?
  /// Where the server listens over TCP.
  var host = "127.0.0.1"
  /// Where the server is; nil: `port` on this machine.
  var address: String?
  /// Another way to the server.
  var otherAddress: String?
  /// Nodes that connect to one, or tasks that call at once.
  var peers = 8
  /// Whether calls are served on the node's own thread.
  var isOnNodeThread = false
  /// What lies between the two ends; nil: nothing.
  var way: Middle.Way?
  /// How long to send nothing and measure what that costs.
  var seconds = 10

  init(_ arguments: [String]) throws {
    guard arguments.count > 2, let mode = Mode(rawValue: arguments[1]) else {
      throw BenchmarkFailure(
        "usage: piconet-benchmark pingpong|bulk|rate|stream|lanes|failover|peers|calls|middle|group --server|--client [--port N]"
      )
    }
    self.mode = mode
    var rest = arguments.dropFirst(2)
    while let option = rest.popFirst() {
      switch option {
      case "--server": isServer = true
      case "--client": isServer = false
      case "--untimed": isUntimed = true
      case "--on-node-thread": isOnNodeThread = true
      case "--file": file = rest.popFirst() ?? ""
      case "--out": out = rest.popFirst() ?? ""
      case "--listen": host = rest.popFirst() ?? ""
      case "--adapter": adapter = rest.popFirst()
      case "--address": address = rest.popFirst()
      case "--other-address": otherAddress = rest.popFirst()
      case "--over":
        guard let way = rest.popFirst().flatMap({ Middle.Way(rawValue: $0) }) else {
          throw BenchmarkFailure("--over needs relay or copy")
        }
        self.way = way
      case "--transport":
        guard let kind = [TransportKind.tcp, .l2cap, .rfcomm].first(where: { "\($0)" == rest.first }) else {
          throw BenchmarkFailure("--transport needs tcp, l2cap or rfcomm")
        }
        transport = kind
        rest.removeFirst()
      case "--port", "--cpu", "--size", "--count", "--peers", "--seconds":
        guard let number = rest.popFirst().flatMap({ Int($0) }), number >= 0 else {
          throw BenchmarkFailure("\(option) needs a number")
        }
        switch option {
        case "--port": port = number
        case "--cpu": cpu = number
        case "--size": size = number
        case "--peers": peers = number
        case "--seconds": seconds = number
        default: count = number
        }
      default: throw BenchmarkFailure("unknown option \(option)")
      }
    }
  }

  /// Keeps the whole process, including future threads, on one processor.
  func pin() throws {
    guard let cpu else { return }
    guard piconet_pin_to_processor(Int32(cpu)) == 0 else { throw BenchmarkFailure("can't pin to processor \(cpu)") }
  }
}
