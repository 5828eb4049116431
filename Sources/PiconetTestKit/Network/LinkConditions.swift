/// The properties of one direction of a connection. Times are virtual nanoseconds.
struct LinkConditions: Sendable {
  var latency: UInt64
  /// The maximum addition to the latency of each piece. The order is kept, as on any reliable stream.
  var jitter: UInt64
  var bytesPerSecond: UInt64
  /// The number of bytes that the kernels of both ends hold together. Bytes beyond it wait, and `transmitted` waits
  /// with them.
  var bufferLimit: Int
  /// How often, in a hundred arrivals, the reader gets the bytes in pieces.
  var cutChance: Int
  /// How often, in a hundred arrivals, bytes are joined to those that the reader has not taken yet.
  var glueChance: Int

  static let quiet = LinkConditions(
    latency: 500_000, jitter: 0, bytesPerSecond: 100_000_000, bufferLimit: 256 << 10, cutChance: 0, glueChance: 0)

  static func drawn(_ dice: inout Dice) -> LinkConditions {
    LinkConditions(
      latency: dice.microseconds(50...dice.pick([300, 3_000, 60_000])),
      jitter: dice.chance(50) ? 0 : dice.microseconds(0...dice.pick([100, 20_000])),
      bytesPerSecond: UInt64(dice.pick([200_000, 2_000_000, 50_000_000, 500_000_000])),
      bufferLimit: dice.pick([2_000, 16_384, 65_536, 262_144]),
      cutChance: dice.pick([0, 10, 60]),
      glueChance: dice.pick([0, 30, 80]))
  }
}
