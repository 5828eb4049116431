extension Responder {
  mutating func handleQuery(
    _ query: DNSMessage, from source: MessageSource, on id: InterfaceID, at now: Duration
  ) -> [Transmission] {
    breakTie(with: query, on: id, at: now)
    guard let interface = interfaces[id], interface.ownsNames else { return [] }
    continueKnownAnswers(query, from: source, on: id, at: now)
    let records = records(on: id)
    let isKnown = { (record: ResourceRecord) in
      // RFC 6762, section 7.1: an answer that is known with at least half of its time to live is not given again.
      query.answers.contains { $0.timeToLive >= record.timeToLive / 2 && $0.isSame(as: record) }
    }
    if source.port != MulticastDNS.port {
      return answerLegacy(query, records: records, from: source, on: id, at: now)
    }
    let isFromThisHost = interfaces.values.contains { $0.traits.addresses.contains(source.address) }
    var multicast: [ResourceRecord] = []
    var unicast: [ResourceRecord] = []
    for question in query.questions {
      for record in records.answers(to: question) where !isKnown(record) {
        // Section 5.4: a record that has not been multicast for a quarter of its time to live is multicast anyway.
        // Also, a querier on this host shares the port with us: an answer by unicast might reach us instead.
        let quarter = Duration.seconds(Int64(record.timeToLive)) / 4
        let isFresh = interface.lastMulticast[record].map { now - $0 < quarter } ?? false
        if question.wantsUnicast && isFresh && !isFromThisHost {
          if !unicast.contains(record) { unicast.append(record) }
        } else if !multicast.contains(record) {
          multicast.append(record)
        }
      }
    }
    let isProbe = query.authorities.contains { $0.name == records.instanceName || $0.name == records.hostName }
    if !multicast.isEmpty {
      enqueue(multicast, to: .multicast, for: query, isProbe: isProbe, from: source, on: id, at: now)
    }
    if !unicast.isEmpty, interfaces[id]?.mayAnswerByUnicast(at: now) == true {
      enqueue(unicast, to: .unicast(source), for: query, isProbe: isProbe, from: source, on: id, at: now)
    }
    return []
  }

  private mutating func enqueue(
    _ answers: [ResourceRecord], to destination: Transmission.Destination, for query: DNSMessage, isProbe: Bool,
    from source: MessageSource, on id: InterfaceID, at now: Duration
  ) {
    guard var interface = interfaces[id] else { return }
    var answers = answers
    var due = now
    if query.isTruncated {
      due += jitter.milliseconds(MulticastDNS.truncatedQueryDelay)
    } else if answers.contains(where: { !$0.cacheFlush }), !interface.traits.isLoopback {
      // Section 6: others may answer too. On loopback there is no medium on which answers could collide.
      due += jitter.milliseconds(MulticastDNS.sharedAnswerDelay)
    }
    if destination == .multicast {
      if !query.isTruncated, !isProbe {
        // An answer that is about to be multicast anyway serves this querier, too.
        answers.removeAll { record in
          interface.pending.contains {
            $0.destination == .multicast && !$0.awaitsKnownAnswers && $0.records.contains(record)
          }
        }
        if answers.isEmpty { return }
      }
      // The defence of a name goes without additional records, which would only delay it.
      let sent = isProbe ? answers : answers + records(on: id).additionals(for: answers)
      let interval = isProbe ? MulticastDNS.probeAnswerInterval : MulticastDNS.multicastInterval
      due = max(due, interface.multicastAllowed(sent, interval: interval, now: now))
    }
    if interface.pending.count >= MulticastDNS.pendingResponses {
      let oldest = interface.pending.indices.min { interface.pending[$0].asked < interface.pending[$1].asked } ?? 0
      interface.pending.remove(at: oldest)
    }
    interface.pending.append(
      PendingResponse(
        querier: source, destination: destination, records: answers, asked: now, due: due,
        awaitsKnownAnswers: query.isTruncated))
    interfaces[id] = interface
  }

  /// Takes more known answers of a truncated query (section 7.2).
  private mutating func continueKnownAnswers(
    _ query: DNSMessage, from source: MessageSource, on id: InterfaceID, at now: Duration
  ) {
    guard query.questions.isEmpty, var interface = interfaces[id] else { return }
    for index in interface.pending.indices
    where interface.pending[index].awaitsKnownAnswers && interface.pending[index].querier == source {
      interface.pending[index].records.removeAll { record in
        query.answers.contains { $0.timeToLive >= record.timeToLive / 2 && $0.isSame(as: record) }
      }
      if query.isTruncated {
        let latest = interface.pending[index].asked + MulticastDNS.longestTruncatedQuery
        interface.pending[index].due = min(latest, now + jitter.milliseconds(MulticastDNS.truncatedQueryDelay))
      }
    }
    interface.pending.removeAll { $0.records.isEmpty }
    interfaces[id] = interface
  }

  /// Drops answers that another host has just given (section 7.4).
  mutating func suppressDuplicates(of response: DNSMessage, on id: InterfaceID) {
    guard var interface = interfaces[id], !interface.pending.isEmpty else { return }
    for index in interface.pending.indices where interface.pending[index].destination == .multicast {
      interface.pending[index].records.removeAll { record in
        response.answers.contains { $0.timeToLive >= record.timeToLive && $0.isSame(as: record) }
      }
    }
    interface.pending.removeAll { $0.records.isEmpty }
    interfaces[id] = interface
  }

  mutating func answerPending(on id: InterfaceID, at now: Duration) -> [Transmission] {
    guard var interface = interfaces[id], interface.pending.contains(where: { $0.due <= now }) else { return [] }
    let due = interface.pending.filter { $0.due <= now }
    interface.pending.removeAll { $0.due <= now }
    interfaces[id] = interface
    let records = records(on: id)
    var output: [Transmission] = []
    var multicast: [ResourceRecord] = []
    for response in due {
      switch response.destination {
      case .unicast:
        output += responses(
          to: response.destination, on: id, answers: response.records,
          additionals: records.additionals(for: response.records))
      case .multicast:
        for record in response.records where !multicast.contains(record) {
          // It was multicast after the question: the querier has heard it.
          if let last = interface.lastMulticast[record], last > response.asked { continue }
          multicast.append(record)
        }
      }
    }
    guard !multicast.isEmpty else { return output }
    let additionals = records.additionals(for: multicast).filter {
      interface.multicastAllowed([$0], interval: MulticastDNS.multicastInterval, now: now) <= now
    }
    noteMulticast(multicast + additionals, on: id, at: now)
    return output + responses(to: .multicast, on: id, answers: multicast, additionals: additionals)
  }

  /// Gives a resolver without Multicast DNS a conventional answer at once (section 6.7).
  private mutating func answerLegacy(
    _ query: DNSMessage, records: ServiceRecords, from source: MessageSource, on id: InterfaceID, at now: Duration
  ) -> [Transmission] {
    let plain = { (record: ResourceRecord) -> ResourceRecord in
      var copy = record.with(timeToLive: min(record.timeToLive, MulticastDNS.legacyTimeToLive))
      copy.cacheFlush = false
      return copy
    }
    let questions = query.questions.filter { !records.answers(to: $0).isEmpty }
    var answers: [ResourceRecord] = []
    for question in questions {
      for record in records.answers(to: question) where !answers.contains(record) { answers.append(record) }
    }
    guard !answers.isEmpty, interfaces[id]?.mayAnswerByUnicast(at: now) == true else { return [] }
    var message = DNSMessage(
      identifier: query.identifier, flags: DNSMessage.responseFlags,
      questions: questions.prefix(4).map { Question(name: $0.name, type: $0.type, questionClass: $0.questionClass) },
      answers: answers.map(plain), additionals: records.additionals(for: answers).map(plain))
    var bytes = message.encoded(limit: MulticastDNS.usualMessage)
    if bytes == nil {
      message.additionals = []
      bytes = message.encoded()
    }
    guard let bytes else { return [] }
    return [Transmission(interface: id, destination: .unicast(source), message: bytes)]
  }

  mutating func noteMulticast(_ sent: [ResourceRecord], on id: InterfaceID, at now: Duration) {
    guard var interface = interfaces[id] else { return }
    let current = records(on: id).all
    // Only current records are remembered, so the table is no larger than the service.
    interface.lastMulticast = interface.lastMulticast.filter { current.contains($0.key) }
    for record in sent { interface.lastMulticast[record] = now }
    interfaces[id] = interface
  }

  /// Returns the answers in as few messages as possible; additional records if there is room.
  func responses(
    to destination: Transmission.Destination, on id: InterfaceID, answers: [ResourceRecord],
    additionals: [ResourceRecord] = []
  ) -> [Transmission] {
    var output: [Transmission] = []
    var rest = answers[...]
    while !rest.isEmpty {
      var count = rest.count
      var message = DNSMessage(flags: DNSMessage.responseFlags, answers: Array(rest))
      var bytes = message.encoded(limit: MulticastDNS.usualMessage)
      while bytes == nil, count > 1 {
        count -= 1
        message.answers = Array(rest.prefix(count))
        bytes = message.encoded(limit: MulticastDNS.usualMessage)
      }
      rest = rest.dropFirst(count)
      if rest.isEmpty {
        message.additionals = additionals
        while !message.additionals.isEmpty {
          if let whole = message.encoded(limit: MulticastDNS.usualMessage) {
            bytes = whole
            break
          }
          message.additionals.removeLast()
        }
      }
      // A single record may be larger than a packet: then it is fragmented (section 17).
      guard let bytes = bytes ?? message.encoded() else { continue }
      output.append(Transmission(interface: id, destination: destination, message: bytes))
    }
    return output
  }
}
