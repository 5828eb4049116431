/// The frames that two nodes exchange about calls. Each is one array of CBOR, which begins with the number of its kind;
/// Documentation/remote-objects.md has the fields.
public enum CallFrame: Hashable, Sendable {
  case hello(Hello)
  case goodbye(CallFailure.Code, String)
  case call(Call)
  /// - Parameter value: one item.
  case result(number: UInt64, value: ArraySlice<UInt8>)
  case failure(number: UInt64, CallFailure)
  case cancel(number: UInt64)
  /// The first part of a longer frame, which has this many bytes in all. The rest of an unfinished one is abandoned.
  /// - Parameter id: the sender's number for this frame.
  case begin(id: UInt64, total: UInt64, ArraySlice<UInt8>)
  /// The next part of that frame.
  case next(id: UInt64, ArraySlice<UInt8>)
  case signal(Signal)
  case claim(NameClaim)
  case release(name: String)
  /// The sender has received a claim, and everything that was sent before it.
  case heard(name: String, time: UInt64)
  /// The sender has received a claim, and it does not count there: the claimant may not own the name.
  case refused(name: String, time: UInt64)
  /// A kind that this version does not know, which is skipped.
  case unknown(UInt64)

  /// The first frame to a member.
  public struct Hello: Hashable, Sendable {
    /// The version of the format.
    public var version: UInt64
    /// Drawn when the sender's system was made: another system has other objects.
    public var instance: UInt64
    public var limits: CallLimits
    /// Whether the receiver should greet as well.
    public var asks: Bool
    /// The sender's description of itself: keys and values of text.
    public var about: [About]

    public struct About: Hashable, Sendable {
      public var key: String
      public var value: String

      public init(_ key: String, _ value: String) {
        self.key = key
        self.value = value
      }
    }

    public init(instance: UInt64, limits: CallLimits, asks: Bool, about: [About] = [], version: UInt64 = 1) {
      self.version = version
      self.instance = instance
      self.limits = limits
      self.asks = asks
      self.about = about
    }
  }

  public struct Call: Hashable, Sendable {
    /// The caller's number; no other call without an answer has it.
    public var number: UInt64
    public var address: CallAddress
    /// How long the caller waits.
    public var milliseconds: UInt64
    /// An array of the arguments.
    public var arguments: ArraySlice<UInt8>

    public init(
      number: UInt64, path: String, interface: String, version: UInt64, method: String, milliseconds: UInt64,
      arguments: ArraySlice<UInt8>
    ) {
      self.init(
        number: number, CallAddress(path: path, interface: interface, version: version, method: method),
        milliseconds: milliseconds, arguments: arguments)
    }

    public init(number: UInt64, _ address: CallAddress, milliseconds: UInt64, arguments: ArraySlice<UInt8>) {
      self.number = number
      self.address = address
      self.milliseconds = milliseconds
      self.arguments = arguments
    }

    public var path: String { address.path }
    public var interface: String { address.interface }
    public var version: UInt64 { address.version }
    public var method: String { address.method }
  }

  /// A report of an object that no call asks for.
  public struct Signal: Hashable, Sendable {
    public var path: String
    public var interface: String
    public var name: String
    /// One item.
    public var value: ArraySlice<UInt8>
    /// Whether it stays the signal's value until the next one comes.
    public var isKept: Bool

    public init(path: String, interface: String, name: String, value: ArraySlice<UInt8>, isKept: Bool) {
      self.path = path
      self.interface = interface
      self.name = name
      self.value = value
      self.isKept = isKept
    }
  }

  /// The number of its kind on the wire.
  enum Kind {
    static let hello: UInt64 = 0
    static let goodbye: UInt64 = 1
    static let call: UInt64 = 2
    static let result: UInt64 = 3
    static let failure: UInt64 = 4
    static let cancel: UInt64 = 5
    static let begin: UInt64 = 6
    static let next: UInt64 = 7
    static let signal: UInt64 = 8
    static let claim: UInt64 = 9
    static let release: UInt64 = 10
    static let heard: UInt64 = 11
    static let refused: UInt64 = 12
  }
}
