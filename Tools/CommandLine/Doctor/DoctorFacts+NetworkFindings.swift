import Piconet

extension DoctorFacts {
  var usableInterfaces: [Interface] {
    interfaces.filter { interface in
      interface.isUp && (interface.hasIPv4 || interface.hasIPv6) && (interface.isLoopback || interface.hasMulticast)
        && (chosenInterfaces?.contains(interface.name) ?? interface.canHavePeers)
    }
  }

  var networkFindings: [Finding] {
    var result: [Finding] = []
    let usable = usableInterfaces
    let others = usable.filter { !$0.isLoopback }
    if !others.isEmpty {
      let names = others.map(\.name).joined(separator: ", ")
      result.append(Finding("network.multicast", .ok, "TCP peers can be looked for on \(names)"))
    } else if chosenInterfaces == ["lo"], !usable.isEmpty {
      result.append(
        Finding(
          "network.loopback", .warning, "PICONET_INTERFACES keeps the programs to this machine",
          advice: "unset it to reach others"))
    } else {
      let chosen = chosenInterfaces.map { " among PICONET_INTERFACES=\($0.joined(separator: ","))" } ?? ""
      result.append(
        Finding(
          "network.none", .warning, "no network interface is up with an address and multicast\(chosen)",
          advice: "join a network; one that drops multicast, as guest networks do, needs --address HOST:PORT"))
    }
    result.append(portFinding)
    let deaf = multicast.deaf(of: others)
    if !deaf.isEmpty {
      result.append(
        Finding(
          "network.deaf", .warning, "the program of Piconet that runs hears nothing on \(deaf.joined(separator: ", "))",
          advice: "start it anew; if that does not help: sudo sysctl net.ipv4.igmp_max_memberships=100"))
    }
    let blocked = others.map(\.name).filter(multicast.blockedInterfaces.contains)
    if !blocked.isEmpty {
      result.append(
        Finding(
          "firewall.blocks", .warning,
          "a firewall drops what this machine sends to others on \(blocked.joined(separator: ", "))",
          advice: "a VPN's kill switch? let it allow the local network; its rules: sudo nft list ruleset"))
    }
    if !firewalls.isEmpty {
      result.append(
        Finding(
          "firewall.present", .warning,
          "\(firewalls.joined(separator: ", ")) may filter packets; its rules can't be seen without root",
          advice: "let in UDP port 5353 and the TCP port of 'imagerecv --listen :PORT': \(firewallAdvice)"))
    } else if blocked.isEmpty {
      result.append(Finding("firewall.none", .ok, "no firewall is to be seen"))
    }
    return result
  }

  /// A kernel without IPv6 lacks the port of that family, which is no matter.
  private var portFinding: Finding {
    let hasIPv6 = usableInterfaces.contains(where: \.hasIPv6)
    let failures = [("IPv4", multicast.ipv4Failure), ("IPv6", isIPv6PortTaken ? multicast.ipv6Failure : nil)]
      .compactMap { family, failure in failure.map { (family, $0) } }
    guard let (first, words) = failures.first else {
      return Finding("network.port", .ok, "UDP port 5353 (Multicast DNS) can be used")
    }
    let isBoth = failures.count > 1 || !hasIPv6
    let port = "UDP port 5353 can't be shared\(isBoth ? "" : " over \(first)")"
    switch multicast.avahi {
    case .publishes:
      return Finding("network.port", .ok, "\(port); Avahi publishes and looks for peers there instead, over D-Bus")
    case .fails(let failure):
      return Finding(
        "network.port", .warning, "\(port): \(words); \(failure)",
        advice: "find who keeps it: ss -ulpn sport = :5353; of Avahi remove disallow-other-stacks=yes, or: "
          + "\(failure.advice); \(meanwhile(isBoth, first))")
    case .notAsked:
      return Finding(
        "network.port", .warning, "\(port): \(words)",
        advice: "find who keeps it: ss -ulpn sport = :5353; \(meanwhile(isBoth, first))")
    }
  }

  private func meanwhile(_ isBoth: Bool, _ family: String) -> String {
    "until then " + (isBoth ? "others need --address HOST:PORT" : "\(family == "IPv4" ? "IPv6" : "IPv4") is used")
  }

  var isIPv6PortTaken: Bool { multicast.ipv6Failure != nil && usableInterfaces.contains(where: \.hasIPv6) }

  private var firewallAdvice: String {
    if firewalls.contains("ufw") { return "ufw allow 5353/udp; ufw allow PORT/tcp" }
    if firewalls.contains("firewalld") {
      return "firewall-cmd --add-service=mdns; firewall-cmd --add-port=PORT/tcp"
    }
    return firewalls.contains("nftables") ? "sudo nft list ruleset" : "sudo iptables -L -n"
  }
}
