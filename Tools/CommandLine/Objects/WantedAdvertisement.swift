import PiconetActors

/// Which of the names and interfaces that peers advertise are looked for.
struct WantedAdvertisement: Hashable, Sendable {
  /// How a name begins; empty: any name, and any peer that advertises an interface.
  var prefix = ""
  /// An interface, in this version or a later one; nil: any.
  var interface: AdvertisedInterface?

  func fits(_ advertisement: Advertisement) -> Bool {
    if let interface {
      let serves = advertisement.interfaces.contains {
        $0.name == interface.name && $0.version >= interface.version
      }
      if !serves { return false }
    }
    if !prefix.isEmpty { return advertisement.names.contains { $0.hasPrefix(prefix) } }
    return interface != nil || !advertisement.names.isEmpty || !advertisement.interfaces.isEmpty
  }
}
