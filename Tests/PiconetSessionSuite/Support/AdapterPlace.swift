import FarAdapter
import PiconetEngine
import PiconetIP
import PiconetRuntime
import Synchronization

@testable import Piconet

/// The place of a node over Bluetooth.
enum AdapterPlace: Sendable, Hashable {
  /// At an adapter of this machine: `hci0`.
  case here(String)
  /// At the adapter of another machine, whose agent listens there: `192.168.1.7:4711`. Links, dials and sightings go
  /// through it, so that the test process holds both nodes while each machine's own kernel and bluetoothd serve one.
  case far(String)

  init(_ text: String) { self = text.hasPrefix("hci") ? .here(text) : .far(text) }

  var isFar: Bool { if case .far = self { true } else { false } }

  /// Why the text names no place.
  var fault: String? {
    guard case .far(let text) = self else { return nil }
    do throws(LinkFailure) {
      _ = try HostPort(text)
      return nil
    } catch {
      return "PICONET_PLACES: \(error.detail)"
    }
  }
}

/// The adapters of other machines that the nodes of one test use.
final class FarMedium: Sendable {
  private struct State {
    var adapters: [Place] = []
    var loss: RelayError?
  }

  /// The place of one node.
  private struct Place: @unchecked Sendable {
    // Sendable is right: the adapter is used on its loop only.
    weak var adapter: FarAdapter?
    let loop: EventLoop
  }

  private let state = Mutex(State())
  /// Called once, when the first control connection is lost: the test has failed.
  private let lost: @Sendable () -> Void

  init(lost: @escaping @Sendable () -> Void) { self.lost = lost }

  /// Why an agent could not be asked, if one could not.
  var loss: RelayError? { state.withLock { $0.loss } }

  /// What a node's configuration uses in place of the real transports.
  func parts(
    at place: String, kind: TransportKind, session: String, loop: EventLoop
  ) -> NodeConfiguration.AdditionalParts {
    do throws(LinkFailure) {
      let adapter = FarAdapter(
        loop: loop, agent: try HostPort(place), opening: AdapterOpening(sessionID: session, kinds: [kind])
      ) { [weak self] loss in self?.note(loss) }
      state.withLock { state in
        state.adapters.removeAll { $0.adapter == nil }
        state.adapters.append(Place(adapter: adapter, loop: loop))
      }
      return NodeConfiguration.AdditionalParts(
        transports: adapter.transports, discoveries: adapter.discoveries, shutDown: adapter.shutDown)
    } catch {
      note(RelayError("\(place): \(error.detail)"))
      return NodeConfiguration.AdditionalParts(transports: [], discoveries: [])
    }
  }

  private func note(_ loss: RelayError) {
    let isFirst = state.withLock { state in
      defer { state.loss = state.loss ?? loss }
      return state.loss == nil
    }
    if isFirst { lost() }
  }

  /// Whether the far adapter that listens at one of these addresses answers a dial; nil if none of them is a far
  /// adapter's.
  func answersPaging(_ addresses: [TransportAddress]) async -> Bool? {
    for place in state.withLock({ $0.adapters }) {
      let answer = await place.loop.perform { () -> Bool? in
        guard let adapter = place.adapter,
          adapter.transports.contains(where: { !Set($0.listeningAddresses).isDisjoint(with: addresses) })
        else { return nil }
        return adapter.answersPaging()
      }
      if let answer { return answer }
    }
    return nil
  }
}
