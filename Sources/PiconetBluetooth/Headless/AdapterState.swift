import CPiconetBluetooth
import PiconetSDP

/// What an adapter was like before we changed it, and how it is restored.
struct AdapterState {
  /// The N of `hciN`.
  private(set) var index: UInt16
  /// Whether it is on because of us.
  private var hasPowered = false
  private var saved: Saved?

  private struct Saved {
    var scanEnable: UInt8
    var inquiryMode: UInt8
    /// Whether it uses error correction, and the data.
    var inquiryResponse: [UInt8]
  }

  init(index: UInt16) { self.index = index }

  /// Whether it is discoverable and connectable, as HCI encodes it.
  var scanEnable: UInt8 { saved?.scanEnable ?? 0 }

  /// The adapter is about to be prepared.
  mutating func begin(index: UInt16, isPowering: Bool) {
    self.index = index
    if isPowering { hasPowered = true }
  }

  /// What it said before the first change; later values are our own doing.
  mutating func save(scanEnable: [UInt8], inquiryMode: [UInt8], inquiryResponse: [UInt8]) {
    guard saved == nil else { return }
    saved = Saved(
      scanEnable: scanEnable.first ?? 0, inquiryMode: inquiryMode.first ?? 0,
      inquiryResponse: inquiryResponse.isEmpty ? [0] : inquiryResponse)
  }

  /// It was off, or away, so it is not on because of us. What was saved still holds: some controllers keep our settings
  /// over a reset.
  mutating func forgetPower() { hasPowered = false }

  /// Restores everything; if the adapter was off, waits until it is switched off.
  func restore(by controller: HCIController?) {
    if let saved {
      _ = piconet_hci_set_scan(index, saved.scanEnable)
      controller?.post(
        .writeInquiryResponse(Array(saved.inquiryResponse.dropFirst()), correction: saved.inquiryResponse.first ?? 0))
      controller?.post(.writeInquiryMode(saved.inquiryMode))
    }
    // Even after a failure: that may have come when the adapter was on already.
    if hasPowered { _ = piconet_hci_set_up(index, 0) }
  }
}
