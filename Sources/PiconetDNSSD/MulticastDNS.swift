/// The fixed numbers of Multicast DNS (RFC 6762), and every limit of this module.
public enum MulticastDNS {
  public static let port: UInt16 = 5353
  /// 224.0.0.251 and ff02::fb.
  public static let groupIPv4 = IPAddress.v4(0xE000_00FB)
  public static let groupIPv6 = IPAddress.v6(high: 0xFF02_0000_0000_0000, low: 0xFB)

  // MARK: messages

  /// The longest message read or written (RFC 6762, section 17).
  public static let largestMessage = 9000
  /// The size to which packets are filled: an Ethernet frame of 1500 bytes less IPv6 and UDP headers, with room to
  /// spare.
  public static let usualMessage = 1440
  /// The most questions and records in one message; a longer message is refused.
  public static let recordsPerMessage = 512
  /// The longest name with its length bytes and the root (RFC 1035, section 2.3.4).
  public static let nameLength = 255
  public static let labelLength = 63
  /// The most pointers followed within one name: more than a name can have labels must be a loop.
  public static let pointersPerName = 128

  // MARK: times

  /// The time to live of this node's records. RFC 6762 (section 10) recommends 120 s for records that name a host and
  /// 75 minutes for others. All records get 120 s here, so that a device that was switched off without a goodbye is
  /// forgotten in two minutes.
  public static let timeToLive: UInt32 = 120
  /// The meta-query's pointer says only that the type exists: it may live for RFC 6762's 75 minutes.
  public static let typeTimeToLive: UInt32 = 4500
  /// Longer times to live in others' records are cut to this.
  public static let longestTimeToLive: UInt32 = 4500
  /// The longest that an answer to a legacy resolver may be kept (section 6.7).
  public static let legacyTimeToLive: UInt32 = 10
  /// Between two probes (section 8.1).
  public static let probeInterval = Duration.milliseconds(250)
  public static let probes = 3
  public static let announcements = 2
  public static let announcementInterval = Duration.seconds(1)
  /// How long the loser of a simultaneous probe waits (section 8.2).
  public static let probeDeferral = Duration.seconds(1)
  /// After this many conflicts in `conflictWindow` we yield to none. An honest neighbour does not go on claiming labels
  /// with our key's digits, and section 8.1, whose pause would silence us, wants no more probes either.
  public static let conflictsInWindow = 3
  public static let conflictWindow = Duration.seconds(10)
  /// The delay of an answer that others might give too (section 6), in milliseconds.
  public static let sharedAnswerDelay: ClosedRange<UInt64> = 20...120
  /// The delay after a truncated query, in which more known answers are awaited (section 7.2), in milliseconds.
  public static let truncatedQueryDelay: ClosedRange<UInt64> = 400...500
  /// The longest that a stream of truncated queries can put an answer off.
  public static let longestTruncatedQuery = Duration.seconds(2)
  /// A record goes out by multicast at most once in this time on one interface (section 6).
  public static let multicastInterval = Duration.seconds(1)
  /// The `multicastInterval` of an answer that defends a name against a probe (section 6).
  public static let probeAnswerInterval = Duration.milliseconds(250)
  /// The `multicastInterval` of the loopback interface. The rule protects a shared medium; loopback isn't one, and
  /// processes that start in quick succession on one host must not have to wait for each other.
  public static let loopbackMulticastInterval = Duration.milliseconds(20)
  /// The first pause between two queries, doubled each time up to the longest (section 5.2).
  public static let firstQueryInterval = Duration.seconds(1)
  public static let longestQueryInterval = Duration.seconds(3600)
  /// The pause between two messages on one interface that ask for records that are missing or will soon expire: others
  /// must not make us chatter, however much they send.
  public static let questionPause = Duration.milliseconds(100)
  /// The longest pause between two queries for missing records of an instance.
  public static let longestResolveInterval = Duration.seconds(60)
  /// The time a record lives on after a goodbye or a cache flush (sections 10.1 and 10.2).
  public static let flushDelay = Duration.seconds(1)
  /// The pause between two instances of one interface that lose their places to others although all can be reached.
  /// Without it, a flood from ever new addresses would at once sweep out every known instance; without end, the flood
  /// would keep out all later ones for as long as its records live.
  public static let displacementInterval = Duration.seconds(1)
  /// How long a record that we gave up is still known as ours when an old packet of our own comes back.
  public static let retiredRecordMemory = Duration.seconds(10)

  // MARK: counts

  public static let addressesPerInterface = 8
  /// An interface counts once for each family.
  public static let interfaces = 256
  /// The most queries on one interface whose answers wait; beyond that the oldest is not answered.
  public static let pendingResponses = 32
  /// The most known answers taken from one querier.
  public static let knownAnswers = 512
  public static let retiredRecords = 64
  /// The most unicast answers per second on one interface.
  public static let unicastAnswersPerSecond = 100
  /// The most records cached from one source address on one interface, and from all.
  public static let cachedRecordsPerSource = 512
  public static let cachedRecords = 8192
  /// The most records cached of one name and type: a host with more addresses loses the surplus.
  public static let cachedRecordsPerSet = 16
  /// The most pointers of the browsed type on one interface; `RecordCache` decides which keep their places if there are
  /// more.
  public static let instancesPerInterface = 512
  /// The number of instances, those that have been there longest, that are never displaced. Otherwise, after a flood
  /// that keeps repeating itself, the instances found before it would be the ones heard of longest ago.
  public static let settledInstances = 256
}
