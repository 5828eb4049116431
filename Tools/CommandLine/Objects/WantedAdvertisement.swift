import PiconetActors

/// Which of the names and interfaces that peers advertise are looked for.
struct WantedAdvertisement: Hashable, Sendable {
  /// How a name begins; empty: any name, and any peer that advertises an interface.
  var prefix = ""
  /// The whole name of an interface; nil: any.
  var interface: String?

  func fits(_ advertisement: Advertisement) -> Bool {
    if let interface, !advertisement.interfaces.contains(interface) { return false }
    if !prefix.isEmpty { return advertisement.names.contains { $0.hasPrefix(prefix) } }
    return interface != nil || !advertisement.names.isEmpty || !advertisement.interfaces.isEmpty
  }
}
