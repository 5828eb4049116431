import CPiconetBluetooth
import PiconetSDP

/// What an adapter was like before us, and how it is put back.
struct AdapterState {
  /// The N of `hciN`.
  private(set) var index: UInt16
  /// Whether it is on because of us.
  private var hasPowered = false
  private var saved: Saved?

  private struct Saved {
    var scanEnable: UInt8
    var inquiryMode: UInt8
    /// Whether it is corrected, and the data.
    var inquiryResponse: [UInt8]
  }

  init(index: UInt16) { self.index = index }

  /// Discoverable and connectable, as HCI has it.
  var scanEnable: UInt8 { saved?.scanEnable ?? 0 }

  /// It is about to be prepared.
  mutating func begin(index: UInt16, isPowering: Bool) {
    self.index = index
    if isPowering { hasPowered = true }
  }

  /// What it said before the first change; what comes later is our own doing.
  mutating func save(scanEnable: [UInt8], inquiryMode: [UInt8], inquiryResponse: [UInt8]) {
    guard saved == nil else { return }
    saved = Saved(
      scanEnable: scanEnable.first ?? 0, inquiryMode: inquiryMode.first ?? 0,
      inquiryResponse: inquiryResponse.isEmpty ? [0] : inquiryResponse)
  }

  /// It was off, or away: who switches it on is not us. What it was like before us still holds: some controllers keep
  /// our own settings over a reset.
  mutating func forgetPower() { hasPowered = false }

  /// Puts everything back, and waits until it is switched off, if it was off.
  func restore(by controller: HCIController?) {
    if let saved {
      _ = piconet_hci_set_scan(index, saved.scanEnable)
      controller?.post(
        .writeInquiryResponse(Array(saved.inquiryResponse.dropFirst()), correction: saved.inquiryResponse.first ?? 0))
      controller?.post(.writeInquiryMode(saved.inquiryMode))
    }
    // Also after a failure: it may have come when the adapter was on already.
    if hasPowered { _ = piconet_hci_set_up(index, 0) }
  }
}
