import Piconet

// What other packages' programs write over the enumerations that they get: it builds without a warning, and goes on
// building, with no more than a warning, when there are more cases.

func word(_ event: SessionEvent) -> String {
  switch event {
  case .joined(let member), .suspended(let member, _), .left(let member, _): member.name
  case .moved(_, let transport), .resumed(_, let transport): word(transport)
  case .message(let message): "\(message.bytes.count)"
  case .offer(let offer): offer.displayName
  case .stream(let stream): stream.name
  @unknown default: "?"
  }
}

func word(_ change: MembershipChange) -> String {
  switch change {
  case .joined(let member): member.name
  case .left(_, let error): error.code.rawValue
  default: "?"
  }
}

func word(_ state: PeerState) -> String {
  switch state {
  case .available, .unavailable: "no member"
  case .connecting: "soon"
  case .connected, .suspended: "member"
  case .disconnected(let error): word(error.blame)
  @unknown default: "?"
  }
}

func word(_ transport: TransportKind) -> String {
  switch transport {
  case .tcp: "network"
  case .l2cap, .rfcomm, .le: "Bluetooth"
  case .relay: "member"
  case .simulated: "nothing"
  @unknown default: "?"
  }
}

func word(_ blame: Blame) -> String {
  switch blame {
  case .us: "I"
  case .peer: "you"
  case .link: "the air"
  case .nobody: "nobody"
  @unknown default: "?"
  }
}

func word(_ policy: TrustPolicy, _ conflict: ConflictPolicy, _ mode: SessionMode) -> String {
  switch (policy, conflict) {
  case (.pinned(let keys), .rename): return "\(keys.count)"
  default: break
  }
  switch mode {
  case .server: return "is found"
  case .client: return "finds"
  case .peer: return "both"
  }
}

func word(_ error: any Error) -> String {
  switch error {
  case PiconetError.declined: "no"
  case let failure as FileFailure: word(failure.code)
  case let failure as LinkFailure: failure.code == .refused ? "nobody listens" : "\(failure)"
  default: "?"
  }
}

func word(_ code: FileFailure.Code) -> String {
  switch code {
  case .missing: "not there"
  case .notRegular(.directory): "a directory"
  case .diskFull(let needed, let free): "\(needed) of \(free)"
  default: "?"
  }
}
