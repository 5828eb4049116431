/// Of this program, peers, and the connections to them.
extension ProgramEvent {
  /// imagerecv can be found and dialled.
  struct Listening: EventMembers {
    /// This device's own fingerprint.
    var peer: String
    var name: String
    var session: String
    /// All of them, as `host:port` or a Bluetooth address.
    var addresses: [String]
    /// The transports that listen.
    var transports: [String]
    /// Where files go.
    var directory: String

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("session", session)
      object.add("addresses", addresses)
      object.add("transports", transports)
      object.add("directory", directory)
    }
  }

  /// imagerecv with `--fingerprint`.
  struct Identity: EventMembers {
    /// This device's own fingerprint.
    var peer: String

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
    }
  }

  struct Found: EventMembers {
    var peer: String
    var name: String
    var session: String?
    /// Where it was seen, the best of several: `host:port` or a Bluetooth address.
    var address: String?
    /// The transports by which it can be reached, best first.
    var transports: [String] = []
    /// In dBm, if Bluetooth tells.
    var signal: Int?
    /// What `piconet browse` shows: names that are advertised, interfaces of objects, and what it is.
    var names: [String] = []
    var interfaces: [String] = []
    var model: String?

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("session", ifKnown: session)
      object.add("address", ifKnown: address)
      if !transports.isEmpty { object.add("transports", transports) }
      if let signal { object.add("signal", Int64(signal)) }
      if !names.isEmpty { object.add("names", names) }
      if !interfaces.isEmpty { object.add("interfaces", interfaces) }
      object.add("model", ifKnown: model)
    }
  }

  /// A peer is no longer in sight.
  struct Lost: EventMembers {
    var peer: String
    var name: String
    var session: String

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("session", session)
    }
  }

  struct Connecting: EventMembers {
    /// nil if only an address is known.
    var peer: String?
    var name: String?
    /// The transports that will be tried, in this order; at least one.
    var transports: [String]
    /// The address that the first of them dials.
    var address: String?

    func add(to object: inout JSONObject) {
      object.add("peer", ifKnown: peer)
      object.add("name", ifKnown: name)
      object.add("transport", ifKnown: transports.first)
      object.add("transports", transports)
      object.add("address", ifKnown: address)
    }
  }

  struct Connected: EventMembers {
    var peer: String
    var name: String
    var transport: String
    /// The fingerprints of the devices that pass everything on, the nearest first; empty for a direct way.
    var relays: [String] = []
    /// What TLS proved: SHA-256 of the peer's SubjectPublicKeyInfo, in 64 hexadecimal digits.
    var fingerprint: String
    /// The short code that both sides have shown, if anyone was asked.
    var code: String?
    /// imagerecv: how many others went unreported since the last report, if any.
    var suppressed: Int64?

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("transport", transport)
      if !relays.isEmpty { object.add("relays", relays) }
      object.add("fingerprint", fingerprint)
      object.add("code", ifKnown: code)
      object.add("suppressed", ifKnown: suppressed)
    }
  }

  /// imagesend: a person is asked on the other side. imagerecv: the question is on the screen.
  struct Code: EventMembers {
    var peer: String
    var name: String
    /// The short code that both sides show.
    var code: String
    /// As in `Connected`.
    var suppressed: Int64?

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("code", code)
      object.add("suppressed", ifKnown: suppressed)
    }
  }

  /// imagerecv accepts senders on which this code, which it has made, is typed.
  struct CodeSet: EventMembers {
    var code: String

    func add(to object: inout JSONObject) {
      object.add("code", code)
    }
  }

  /// imagerecv: a sender has tried a wrong code.
  struct CodeFailed: EventMembers {
    var peer: String
    var name: String
    var reason: String
    var message: String
    /// Tries that are left, over all senders.
    var left: Int64

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("reason", reason)
      object.add("message", message)
      object.add("left", left)
    }
  }

  /// A peer can't be reached for the moment; both sides look for another way.
  struct Suspended: EventMembers {
    var peer: String
    var name: String
    /// A word for programs, as in `Failed`.
    var reason: String
    /// A sentence to show.
    var message: String
    /// As in `Connected`; resumptions count, too.
    var suppressed: Int64?

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("reason", reason)
      object.add("message", message)
      object.add("suppressed", ifKnown: suppressed)
    }
  }

  /// A peer is reached again, or over another link.
  struct Resumed: EventMembers {
    var peer: String
    var name: String
    var transport: String
    /// As in `Connected`.
    var relays: [String] = []
    /// As in `Suspended`.
    var suppressed: Int64?

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("transport", transport)
      if !relays.isEmpty { object.add("relays", relays) }
      object.add("suppressed", ifKnown: suppressed)
    }
  }

  /// imagerecv has turned a sender away.
  struct Declined: EventMembers {
    var peer: String
    var name: String
    var reason: String
    /// A sentence to show, if the key was refused.
    var message: String?
    /// How many others were turned away since the last report, if any.
    var suppressed: Int64?

    func add(to object: inout JSONObject) {
      object.add("peer", peer)
      object.add("name", name)
      object.add("reason", reason)
      object.add("message", ifKnown: message)
      object.add("suppressed", ifKnown: suppressed)
    }
  }
}
