import CPiconetBluetooth
import PiconetSDP

/// The state of an adapter before this process changed it, and the way to restore it.
struct AdapterState {
  /// The N of `hciN`.
  private(set) var index: UInt16
  /// Whether this process has switched it on.
  private var hasPowered = false
  private var saved: Saved?

  private struct Saved {
    var scanEnable: UInt8
    var inquiryMode: UInt8
    /// Whether the adapter uses error correction, and the data.
    var inquiryResponse: [UInt8]
  }

  init(index: UInt16) { self.index = index }

  /// Whether it is discoverable and connectable, as HCI encodes it.
  var scanEnable: UInt8 { saved?.scanEnable ?? 0 }

  /// Notes that the adapter is about to be prepared.
  mutating func begin(index: UInt16, isPowering: Bool) {
    self.index = index
    if isPowering { hasPowered = true }
  }

  /// Saves the values from before the first change; later values are this process's own.
  mutating func save(scanEnable: [UInt8], inquiryMode: [UInt8], inquiryResponse: [UInt8]) {
    guard saved == nil else { return }
    saved = Saved(
      scanEnable: scanEnable.first ?? 0, inquiryMode: inquiryMode.first ?? 0,
      inquiryResponse: inquiryResponse.isEmpty ? [0] : inquiryResponse)
  }

  /// Notes that it was off, or absent, so this process has not switched it on. The saved state still holds: some
  /// controllers keep our settings over a reset.
  mutating func forgetPower() { hasPowered = false }

  /// Restores everything; if the adapter was off, waits until it is switched off.
  func restore(by controller: HCIController?) {
    if let saved {
      _ = piconet_hci_set_scan(index, saved.scanEnable)
      controller?.post(
        .writeInquiryResponse(Array(saved.inquiryResponse.dropFirst()), correction: saved.inquiryResponse.first ?? 0))
      controller?.post(.writeInquiryMode(saved.inquiryMode))
    }
    // Even after a failure: that may have come when the adapter was already on.
    if hasPowered { _ = piconet_hci_set_up(index, 0) }
  }
}
