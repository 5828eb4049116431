/// An event as one line of JSON, ending with a newline.
enum EventLine {
  static func text(_ event: ProgramEvent) -> String {
    var object = JSONObject()
    switch event {
    case .listening(let listening):
      object.add("event", "listening")
      object.add("peer", listening.peer)
      object.add("name", listening.name)
      object.add("session", listening.session)
      object.add("addresses", listening.addresses)
      object.add("transports", listening.transports)
      object.add("directory", listening.directory)
    case .identity(let identity):
      object.add("event", "identity")
      object.add("peer", identity.peer)
    case .lost(let lost):
      object.add("event", "lost")
      object.add("peer", lost.peer)
      object.add("name", lost.name)
      object.add("session", lost.session)
    case .found(let found), .changed(let found):
      if case .found = event { object.add("event", "found") } else { object.add("event", "changed") }
      object.add("peer", found.peer)
      object.add("name", found.name)
      object.add("session", ifKnown: found.session)
      object.add("address", ifKnown: found.address)
      if !found.transports.isEmpty { object.add("transports", found.transports) }
      if let signal = found.signal { object.add("signal", Int64(signal)) }
      if !found.names.isEmpty { object.add("names", found.names) }
      if !found.interfaces.isEmpty { object.add("interfaces", found.interfaces) }
      object.add("model", ifKnown: found.model)
    case .connecting(let connecting):
      object.add("event", "connecting")
      object.add("peer", ifKnown: connecting.peer)
      object.add("name", ifKnown: connecting.name)
      object.add("transport", ifKnown: connecting.transports.first)
      object.add("transports", connecting.transports)
      object.add("address", ifKnown: connecting.address)
    case .code(let code):
      object.add("event", "code")
      object.add("peer", code.peer)
      object.add("name", code.name)
      object.add("code", code.code)
      object.add("suppressed", ifKnown: code.suppressed)
    case .codeSet(let set):
      object.add("event", "code-set")
      object.add("code", set.code)
    case .codeFailed(let failed):
      object.add("event", "code-failed")
      object.add("peer", failed.peer)
      object.add("name", failed.name)
      object.add("reason", failed.reason)
      object.add("message", failed.message)
      object.add("left", failed.left)
    case .connected(let connected):
      object.add("event", "connected")
      object.add("peer", connected.peer)
      object.add("name", connected.name)
      object.add("transport", connected.transport)
      if !connected.relays.isEmpty { object.add("relays", connected.relays) }
      object.add("fingerprint", connected.fingerprint)
      object.add("code", ifKnown: connected.code)
      object.add("suppressed", ifKnown: connected.suppressed)
    case .suspended(let suspended):
      object.add("event", "suspended")
      object.add("peer", suspended.peer)
      object.add("name", suspended.name)
      object.add("reason", suspended.reason)
      object.add("message", suspended.message)
      object.add("suppressed", ifKnown: suspended.suppressed)
    case .resumed(let resumed):
      object.add("event", "resumed")
      object.add("peer", resumed.peer)
      object.add("name", resumed.name)
      object.add("transport", resumed.transport)
      if !resumed.relays.isEmpty { object.add("relays", resumed.relays) }
      object.add("suppressed", ifKnown: resumed.suppressed)
    case .declined(let declined):
      object.add("event", "declined")
      object.add("peer", declined.peer)
      object.add("name", declined.name)
      object.add("reason", declined.reason)
      object.add("message", ifKnown: declined.message)
      object.add("suppressed", ifKnown: declined.suppressed)
    case .offered(let offered):
      object.add("event", "offered")
      object.add("peer", offered.peer)
      object.add("file", offered.file)
      object.add("bytes", offered.bytes)
      object.add("mediaType", ifKnown: offered.mediaType)
    case .progress(let progress):
      object.add("event", "progress")
      object.add("peer", progress.peer)
      object.add("file", progress.file)
      object.add("done", progress.done)
      object.add("total", progress.total)
      if progress.isComparing { object.add("phase", "comparing") }
      object.add("rate", ifKnown: progress.rate)
      object.add("remaining", ifKnown: progress.remaining)
    case .stored(let stored):
      object.add("event", "stored")
      object.add("peer", stored.peer)
      object.add("file", stored.file)
      object.add("path", stored.path)
      object.add("bytes", stored.bytes)
      object.add("sha256", stored.sha256)
      object.add("resumedFrom", ifKnown: stored.resumedFrom)
      object.add("suppressed", ifKnown: stored.suppressed)
      if !stored.takenOut.isEmpty { object.add("takenOut", LocationKind.words(stored.takenOut)) }
    case .present(let present):
      object.add("event", "present")
      object.add("peer", present.peer)
      object.add("file", present.file)
      object.add("path", present.path)
      object.add("bytes", present.bytes)
      object.add("sha256", present.sha256)
      object.add("suppressed", ifKnown: present.suppressed)
      if !present.takenOut.isEmpty { object.add("takenOut", LocationKind.words(present.takenOut)) }
    case .skipped(let skipped):
      object.add("event", "skipped")
      object.add("peer", ifKnown: skipped.peer)
      object.add("file", skipped.file)
      object.add("reason", skipped.reason)
      object.add("suppressed", ifKnown: skipped.suppressed)
    case .failed(let failed):
      object.add("event", "failed")
      object.add("peer", ifKnown: failed.peer)
      object.add("file", ifKnown: failed.file)
      object.add("reason", failed.reason)
      object.add("message", failed.message)
      object.add("exitCode", Int64(failed.exitCode.rawValue))
      object.add("suppressed", ifKnown: failed.suppressed)
    case .warning(let warning):
      object.add("event", "warning")
      object.add("reason", warning.reason)
      object.add("message", warning.message)
      object.add("path", ifKnown: warning.path)
      object.add("line", ifKnown: warning.line)
    case .finished(let finished):
      object.add("event", "finished")
      object.add("stored", finished.stored)
      object.add("present", finished.present)
      object.add("skipped", finished.skipped)
      object.add("failed", finished.failed)
      object.add("bytes", finished.bytes)
      object.add("leftOut", ifKnown: finished.leftOut)
      object.add("exitCode", Int64(finished.exitCode.rawValue))
    }
    return object.line + "\n"
  }
}
