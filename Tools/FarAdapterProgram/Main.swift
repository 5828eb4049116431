import PiconetEngine
import FarAdapter
import Glibc
import PiconetIP
import PiconetRuntime

#if Bluetooth
  import PiconetBluetooth
#endif

/// Serves an adapter of this machine to the session suite on another one, until it is interrupted. Started by
/// Tools/hardware-test.
@main struct Main {
  static let usage = """
    usage: far-adapter --listen HOST:PORT --adapter hciN
    Serves the adapter to whoever reaches that address: run it only as long as the test takes. Tools/hardware-test respond starts it.
    It says 'listening at HOST:PORT' when it does. SIGINT or SIGTERM end it, and leave the adapter as it was.
    Exit status: 0 ended by a signal; 1 it can't listen; 2 usage.
    """

  static func main() {
    var words = CommandLine.arguments.dropFirst()
    var place: HostPort?
    var adapter: String?
    while let word = words.popFirst() {
      guard let value = words.popFirst() else { return complain(usage, 2) }
      switch word {
      case "--listen":
        do throws(LinkFailure) {
          place = try HostPort(value)
        } catch {
          return complain("far-adapter: \(error.detail)", 2)
        }
      case "--adapter": adapter = value
      default: return complain(usage, 2)
      }
    }
    guard let place, let adapter else { return complain(usage, 2) }
    #if Bluetooth
      guard let adapter = BluetoothConfiguration.Adapter(adapter) else {
        return complain("far-adapter: '\(adapter)' is no adapter such as hci0", 2)
      }
      serve(place) { loop, opening throws(RelayError) in
        try AdapterParts.bluetooth(adapter, loop: loop, opening: opening)
      }
    #else
      complain("far-adapter: built without the trait Bluetooth; \(adapter) can't be served at \(place)", 1)
    #endif
  }

  private static func complain(_ text: String, _ status: Int32) {
    put(text, STDERR_FILENO)
    exit(status)
  }

  /// Writes a line; without a reader it is lost. Nothing from the network must control a terminal.
  @Sendable private static func put(_ text: String, _ descriptor: Int32) {
    let safe = text.unicodeScalars.prefix(1_000).map { scalar in
      scalar.properties.generalCategory == .control && scalar != "\n" ? "?" : Character(scalar)
    }
    let line = Array((String(safe) + "\n").utf8)
    _ = write(descriptor, line, line.count)
  }

  private static func serve(_ place: HostPort, make: @escaping AdapterParts.Making) {
    // Blocked before there are threads: only `sigwait` below takes them.
    var stops = sigset_t()
    sigemptyset(&stops)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&stops, number) }
    pthread_sigmask(SIG_BLOCK, &stops, nil)
    signal(SIGPIPE, SIG_IGN)
    let running = Running()
    do {
      let loop = try EventLoop(name: "far-adapter")
      let socket = try ControlSocket.listen(place)
      loop.execute {
        do throws(LinkFailure) {
          running.agent = try AdapterAgent(
            loop: loop, listener: socket.descriptor, log: { put($0, STDOUT_FILENO) }, make: make)
          put("listening at \(HostPort(host: place.host, port: socket.port))", STDOUT_FILENO)
        } catch {
          complain("far-adapter: \(error)", 1)
        }
      }
      var number: Int32 = 0
      sigwait(&stops, &number)
      loop.execute { running.agent?.shutDown { exit(0) } }
      // A second signal ends the program without waiting for anything.
      sigwait(&stops, &number)
      _exit(128 + number)
    } catch {
      complain("far-adapter: \(error)", 1)
    }
  }

  /// What runs on the loop.
  private final class Running: @unchecked Sendable {
    // Sendable is right: used on the loop only.
    var agent: AdapterAgent?
  }
}
