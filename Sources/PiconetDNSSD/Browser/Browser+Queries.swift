/// The state of a browser on one interface.
struct BrowserInterface: Sendable {
  /// When to ask for the missing records of an instance.
  struct Resolution: Sendable {
    var due: Duration
    var interval: Duration
  }

  var traits: InterfaceTraits
  /// When to ask for the type next.
  var due: Duration
  /// nil before the first query.
  var interval: Duration?
  /// Before this only the type is asked for.
  var mayAskAgain = Duration.zero
  /// Before this the type is not asked for out of turn.
  var mayAskForTypeAgain = Duration.zero
  /// Instances with missing records.
  var resolutions: [DomainName: Resolution] = [:]
  /// Every instance with a pointer, with the hosts that its SRV records name.
  var targets: [DomainName: Set<DomainName>] = [:]
  /// The instances of every such host.
  var instances: [DomainName: Set<DomainName>] = [:]

  init(traits: InterfaceTraits, due: Duration) {
    self.traits = traits
    self.due = due
  }
}

extension Browser {
  /// All queries that are due on an interface, in as few messages as possible.
  mutating func ask(on id: InterfaceID, refreshing: Bool, at now: Duration) -> [Transmission] {
    guard var interface = interfaces[id] else { return [] }
    var questions: [Question] = []
    var asksForType = false
    if interface.due <= now {
      // RFC 6762, section 5.2: doubling pauses. Section 5.4: only the first may be answered by unicast.
      let isFirst = interface.interval == nil
      let interval = interface.interval.map { min($0 * 2, MulticastDNS.longestQueryInterval) }
      interface.interval = interval ?? MulticastDNS.firstQueryInterval
      interface.due = now + (interface.interval ?? MulticastDNS.firstQueryInterval)
      asksForType = true
      questions.append(
        Question(name: type.name, type: .ptr, wantsUnicast: isFirst && interface.traits.receivesUnicast))
    }
    var further = QuestionList()
    if interface.mayAskAgain <= now { askForMissing(on: id, interface: &interface, into: &further, at: now) }
    if refreshing { askAgain(on: id, interface: interface, into: &further, asksForType: &asksForType, at: now) }
    if !further.questions.isEmpty { interface.mayAskAgain = now + MulticastDNS.questionPause }
    if asksForType { interface.mayAskForTypeAgain = now + MulticastDNS.firstQueryInterval }
    interfaces[id] = interface
    if asksForType, questions.isEmpty { questions.append(Question(name: type.name, type: .ptr)) }
    questions += further.questions
    if questions.isEmpty { return [] }
    return queries(questions, knownAnswers: asksForType ? knownAnswers(on: id, at: now) : [], on: id)
  }

  /// Asks about instances whose pointer came without the rest: first those from sources that name few, then those that
  /// have waited longest.
  private func askForMissing(
    on id: InterfaceID, interface: inout BrowserInterface, into list: inout QuestionList, at now: Duration
  ) {
    let due = interface.resolutions.filter { $0.value.due <= now }
    if due.isEmpty { return }
    var crowds: [DomainName: Int] = [:]
    for entry in cache.entries(type.name, .ptr, on: id) {
      if case .pointer(let name) = entry.record.data { crowds[name] = cache.pointersBySource[entry.source] }
    }
    let turns = due.sorted {
      (crowds[$0.key] ?? 0, $0.value.due, $0.key) < (crowds[$1.key] ?? 0, $1.value.due, $1.key)
    }
    for (name, resolution) in turns {
      guard list.add(missing(of: name, on: id)) else { return }
      interface.resolutions[name] = .init(
        due: now + resolution.interval,
        interval: min(resolution.interval * 2, MulticastDNS.longestResolveInterval))
    }
  }

  /// The number of hosts of one instance whose addresses are asked for.
  private static let askedTargets = 4

  /// Returns the questions for records that an instance needs and the cache lacks.
  func missing(of name: DomainName, on id: InterfaceID) -> [Question] {
    var wanted: [Question] = []
    let services = services(of: name, on: id)
    if services.isEmpty { wanted.append(Question(name: name, type: .srv)) }
    var targets: [DomainName] = []
    for service in services where targets.count < Self.askedTargets && !targets.contains(service.target) {
      targets.append(service.target)
    }
    for target in targets where addresses(of: target, on: id).isEmpty {
      wanted += [.a, .aaaa].map { Question(name: target, type: $0) }
    }
    if cache.entries(name, .txt, on: id).isEmpty { wanted.append(Question(name: name, type: .txt)) }
    return wanted
  }

  /// Asks for records that will soon expire (section 5.2).
  private mutating func askAgain(
    on id: InterfaceID, interface: BrowserInterface, into list: inout QuestionList, asksForType: inout Bool,
    at now: Duration
  ) {
    var due: [(key: RecordCache.Key, isFirst: Bool)] = []
    for (key, entries) in cache.sets where key.interface == id {
      let ready = entries.filter { $0.refreshDue.map { $0 <= now } ?? false }
      if ready.isEmpty { continue }
      // Records that nothing leads to any more are left to expire.
      let isWanted =
        key.type == .ptr || (key.type == .srv || key.type == .txt) && isKnown(instance: key.name, on: id)
        || isTarget(key.name, on: id)
      if isWanted { due.append((key, ready.allSatisfy { $0.refreshes == 0 })) } else { countRefresh(key, at: now) }
    }
    due.sort { ($0.key.name, $0.key.type) < ($1.key.name, $1.key.type) }
    if let pointers = due.first(where: { $0.key.type == .ptr }), asksForType || interface.mayAskForTypeAgain <= now {
      asksForType = true
      countRefresh(pointers.key, at: now)
    }
    for (key, isFirst) in due where key.type != .ptr {
      // The answer to the question for the type usually brings the rest: ask for the rest only if it did not.
      let comesWithType = asksForType && isFirst
      guard
        comesWithType || interface.mayAskAgain <= now && list.add([Question(name: key.name, type: key.type)])
      else { continue }
      countRefresh(key, at: now)
    }
  }

  private mutating func countRefresh(_ key: RecordCache.Key, at now: Duration) {
    cache.change(key) { entry in
      while let time = entry.refreshDue, time <= now { entry.refreshes += 1 }
    }
  }

  /// Returns the pointers known for more than half of their time to live (section 7.1).
  private func knownAnswers(on id: InterfaceID, at now: Duration) -> [ResourceRecord] {
    cache.entries(type.name, .ptr, on: id).compactMap { entry in
      let remaining = entry.remainingSeconds(at: now)
      guard remaining > entry.record.timeToLive / 2, entry.refreshes < 4, case .pointer(let name) = entry.record.data,
        !cache.entries(name, .srv, on: id).isEmpty, !cache.entries(name, .txt, on: id).isEmpty
      else { return nil }
      return entry.record.with(timeToLive: remaining)
    }
  }

  /// Puts questions, then known answers, into a message; those that don't fit go into further messages (section 7.2).
  private func queries(_ questions: [Question], knownAnswers: [ResourceRecord], on id: InterfaceID) -> [Transmission] {
    var messages: [DNSMessage] = []
    var rest = questions[...]
    while !rest.isEmpty {
      var message = DNSMessage(questions: Array(rest))
      while message.encoded(limit: MulticastDNS.usualMessage) == nil, message.questions.count > 1 {
        message.questions.removeLast((message.questions.count + 1) / 2)
      }
      rest = rest.dropFirst(message.questions.count)
      messages.append(message)
    }
    var answers = knownAnswers[...]
    while !answers.isEmpty, let last = messages.indices.last {
      var count = min(answers.count, 256)
      messages[last].answers = Array(answers.prefix(count))
      while count > 0, messages[last].encoded(limit: MulticastDNS.usualMessage) == nil {
        count = count * 3 / 4
        messages[last].answers = Array(answers.prefix(count))
      }
      if count == 0, messages[last].questions.isEmpty { break }
      answers = answers.dropFirst(count)
      if !answers.isEmpty {
        messages[last].flags |= DNSMessage.truncatedFlag
        messages.append(DNSMessage())
      }
    }
    return messages.compactMap { message in
      message.encoded().map { Transmission(interface: id, destination: .multicast, message: $0) }
    }
  }
}

/// Questions that fit into one message: the others are asked in a later one.
struct QuestionList {
  private(set) var questions: [Question] = []

  /// - Returns: false if there is no room for them; then none is taken.
  mutating func add(_ further: [Question]) -> Bool {
    let longer = questions + further.filter { !questions.contains($0) }
    guard questions.isEmpty || DNSMessage(questions: longer).encoded(limit: MulticastDNS.usualMessage) != nil else {
      return false
    }
    questions = longer
    return true
  }
}
