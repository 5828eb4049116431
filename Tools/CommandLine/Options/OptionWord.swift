import Piconet

/// An option's argument that is one of a few words: `--accept ask|known|all`.
protocol OptionWord: RawRepresentable<String>, CaseIterable, Sendable {}

extension OptionWord {
  /// Reads the word exactly; no abbreviations, so that a later word can't change what a script means.
  init(_ argument: OptionArgument) throws(UnacceptableValue) {
    guard let word = Self(rawValue: argument.text) else { throw .notOneOf(Self.allCases.map(\.rawValue)) }
    self = word
  }

  /// `ask|known|all`, for the help.
  static var choices: String { allCases.map(\.rawValue).joined(separator: "|") }
}

/// Which transports may be used.
enum TransportChoice: String, OptionWord {
  case auto, bluetooth, l2cap, rfcomm, le, tcp

  /// In order of preference.
  var kinds: [TransportKind] {
    switch self {
    case .auto: TransportKind.defaultOrder
    case .bluetooth: TransportKind.bluetooth
    case .l2cap: [.l2cap]
    case .rfcomm: [.rfcomm]
    case .le: [.le]
    case .tcp: [.tcp]
    }
  }

  /// Whether nothing but Bluetooth will do.
  var isBluetoothOnly: Bool { !kinds.contains(.tcp) }
}

/// The peers that can find imagerecv.
enum Visibility: String, OptionWord {
  case all, known
}

/// The treatment of locations in photos by imagesend.
enum LocationChoice: String, OptionWord {
  case keep, strip, ask
}

/// The senders whose files imagerecv accepts.
enum AcceptPolicy: String, OptionWord {
  case ask, known, all
}

/// What imagerecv does if the file's name is taken.
extension ConflictPolicy: OptionWord {}
