import Foundation
import TestSupport
import Testing

@testable import PiconetCommandLine

/// Hosts of a namespace whose network is not as it should be.
@Suite(
  "The programs report obstacles between devices on a network, and do the rest",
  .enabled(if: NetworkNamespace.isAvailable, "this machine lets us make no network namespaces"))
struct NetworkObstacleTests {
  /// A receiver here, and a sender on another host: `$here` and `$there` before a program.
  private static let hosts = """
    ip netns add far
    ip -n far link set lo up
    PATH=$BIN:/usr/sbin:$PATH
    here="env XDG_STATE_HOME=$FOLDER/here XDG_CACHE_HOME=$FOLDER/here/cache"
    there="nsenter --net=/run/netns/far env XDG_STATE_HOME=$FOLDER/there XDG_CACHE_HOME=$FOLDER/there/cache"
    wire() {
      ip link add lan type veth peer name lan netns far
      ip addr add 10.9.9.1/24 dev lan; ip -n far addr add 10.9.9.2/24 dev lan
      ip link set lan up; ip -n far link set lan up
    }
    receive() {
      $here imagerecv --name Here --accept all --any --directory $FOLDER/in "$@" > $FOLDER/recv.out 2> $FOLDER/recv.err &
      receiver=$!
      until_line $FOLDER/recv.err "Receiving as" || exit 1
    }
    send() { $there imagesend --yes --any --fingerprint $key --timeout 30 "$@" $FOLDER/photo.dat 2> $FOLDER/send.err; echo "sender $?"; }
    head -c 3000 /dev/urandom > $FOLDER/photo.dat
    mkdir $FOLDER/in
    key=$($here imagerecv --fingerprint)

    """

  private func run(_ script: String, _ variables: [String: String] = [:]) async throws -> ProcessOutcome {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let programs = URL(filePath: ToolProcess.path(of: "imagesend")).deletingLastPathComponent().path
    return try await NetworkNamespace.run(
      Self.hosts + script,
      with: ["FOLDER": folder.path, "BIN": programs, "HOME": folder.path].merging(variables) { $1 })
  }

  @Test(
    "a receiver is reached over the interface behind which it is, where another one is in a network of the same numbers",
    arguments: [["--to", "Here"], ["--address", "10.9.9.1:4000"]])
  func sameNumbers(place: [String]) async throws {
    let outcome = try await run(
      """
      ip netns add other
      for host in /proc/self/ns/net /run/netns/far /run/netns/other; do
        nsenter --net=$host sh -c 'for one in all default; do echo 1 > /proc/sys/net/ipv6/conf/$one/disable_ipv6; done'
      done
      ip link add lan type veth peer name lan netns far
      ip -n far link add wlan type veth peer name wlan netns other
      ip addr add 10.9.9.1/24 dev lan; ip link set lan up
      ip -n other addr add 10.9.9.9/24 dev wlan; ip -n other link set wlan up
      # The routes lead into the network where nothing has the receiver's address.
      ip -n far addr add 10.9.9.2/24 dev wlan; ip -n far link set wlan up
      ip -n far addr add 10.9.9.3/24 dev lan metric 600; ip -n far link set lan up
      receive --transport tcp --listen :4000
      send --transport tcp $PLACE
      cat $FOLDER/send.err
      cmp $FOLDER/photo.dat $FOLDER/in/photo.dat && echo same
      """, ["PLACE": place.joined(separator: " ")])
    #expect(outcome.output.contains("sender 0") && outcome.output.contains("same"), "\(outcome.output)")
  }

  @Test(
    "where another program keeps the port of Multicast DNS over IPv4, others find the receiver over IPv6; once it keeps both, by address"
  )
  func portTaken() async throws {
    let outcome = try await run(
      """
      wire
      cat > $FOLDER/keep.py <<'END'
      import socket, sys, time
      kept = [socket.socket(f, socket.SOCK_DGRAM) for f in [socket.AF_INET, socket.AF_INET6][:int(sys.argv[1])]]
      for one in kept[1:]: one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
      for one in kept: one.bind(("", 5353))
      print("kept", flush=True)
      time.sleep(1000)
      END
      python3 $FOLDER/keep.py 1 > $FOLDER/one & keep=$!
      until_line $FOLDER/one kept
      receive --listen :4000
      send --to Here
      stop $receiver
      cat $FOLDER/recv.err | sed 's/^/one: /'
      kill -KILL $keep
      python3 $FOLDER/keep.py 2 > $FOLDER/both & keep=$!
      until_line $FOLDER/both kept
      receive --listen :4000
      send --address 10.9.9.1:4000
      stop $receiver
      cat $FOLDER/recv.err | sed 's/^/both: /'
      $here piconet doctor | sed 's/^/doctor: /'
      """)
    #expect(outcome.lines.filter { $0 == "sender 0" }.count == 2, "\(outcome.output)")
    #expect(outcome.lines.contains { $0.hasPrefix("one: ") && $0.contains("over IPv6 alone") }, "\(outcome.output)")
    #expect(outcome.lines.contains { $0.hasPrefix("both: ") && $0.contains("--address") }, "\(outcome.output)")
    #expect(!outcome.output.contains("internal error"))
    let verdict = outcome.lines.last { $0.hasPrefix("doctor: ") && $0.contains(" sum ") }
    #expect(verdict?.contains("others are found over TCP, but find this device neither") == true, "\(outcome.output)")
  }

  #if Bluetooth
    @Test(
      "where Avahi keeps the port, it publishes and looks for the programs, and the doctor says so",
      .enabled(if: NetworkNamespace.hasAvahi, "avahi-daemon, avahi-utils or dbus is not installed"))
    func avahi() async throws {
      let outcome = try await run(
        "wire\n"
          + NetworkNamespace.avahi(settings: ["disallow-other-stacks=yes", "use-ipv4=yes", "use-ipv6=yes"]) + """
            ip netns exec far sysctl -qw net.ipv6.conf.all.disable_ipv6=1
            receive
            send --to Here
            $here piconet doctor | sed 's/^/doctor: /'
            mkdir $FOLDER/far
            $there imagerecv --name There --accept all --any --directory $FOLDER/far > /run/far.out 2> $FOLDER/far.err &
            receiver2=$!
            until_line $FOLDER/far.err "Receiving as" || exit 1
            key=$($there imagerecv --fingerprint)
            env XDG_STATE_HOME=$FOLDER/other XDG_CACHE_HOME=$FOLDER/other/cache imagesend --yes --any --fingerprint $key \
              --to There --timeout 30 $FOLDER/photo.dat 2> $FOLDER/send2.err; echo "near sender $?"
            stop $receiver2; stop $receiver
            sed 's/^/recv: /' $FOLDER/recv.err; sed 's/^/send: /' $FOLDER/send.err $FOLDER/send2.err
            """)
      if outcome.lines.contains("no avahi") {
        try Test.cancel("avahi-daemon does not start in a namespace here: \(outcome.output)")
      }
      #expect(outcome.lines.contains("sender 0") && outcome.lines.contains("near sender 0"), "\(outcome.output)")
      #expect(!outcome.output.contains("5353 to itself"), "\(outcome.output)")
      #expect(
        outcome.lines.contains { $0.hasPrefix("doctor: ") && $0.contains("Avahi publishes and looks for peers there") },
        "\(outcome.output)")
    }
  #endif

  @Test("without a network the receiver says so at the start, and a sender finds it once a network is up")
  func noNetwork() async throws {
    let outcome = try await run(
      """
      receive
      until_line $FOLDER/recv.err "there is no network here" || exit 1
      wire
      send --to Here
      stop $receiver
      """)
    #expect(outcome.lines.contains("sender 0"), "\(outcome.output)")
  }

  @Test("without a network both programs say so once, whatever is wrong with Bluetooth")
  func noNetworkOnce() async throws {
    let outcome = try await run(
      """
      receive
      until_line $FOLDER/recv.err "no network here" || exit 1
      $here imagesend --yes --any --to There --timeout 3 $FOLDER/photo.dat 2> $FOLDER/send.err
      echo "receiver: $(grep -ci "no network" $FOLDER/recv.err)"
      # The last word says why nobody was found.
      echo "sender: $(grep -v "no peer called" $FOLDER/send.err | grep -ci "no network")"
      stop $receiver; cat $FOLDER/recv.err $FOLDER/send.err
      """)
    #expect(outcome.lines.contains("receiver: 1") && outcome.lines.contains("sender: 1"), "\(outcome.output)")
  }

  @Test("interfaces that find no room are named")
  func interfacesLeftOut() async throws {
    let outcome = try await run(
      """
      sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 net.ipv4.igmp_max_memberships=1
      for i in $(seq 17); do
        ip link add d$i type veth peer name e$i; ip addr add 10.88.$i.1/24 dev d$i; ip link set e$i up; ip link set d$i up
      done
      receive
      until_line $FOLDER/recv.err "no more memberships" || exit 1
      stop $receiver
      cat $FOLDER/recv.err
      """)
    #expect(outcome.output.contains("nothing is heard on d16, d17; PICONET_INTERFACES"), "\(outcome.output)")
  }

  @Test(
    "the doctor finds a firewall that drops what goes out",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/sbin/nft"), "nftables is not installed"))
  func killSwitch() async throws {
    let outcome = try await run(
      """
      wire
      nft add table inet kill 2> $FOLDER/nft || { echo "no nft"; cat $FOLDER/nft; exit 0; }
      nft add chain inet kill out '{ type filter hook output priority 0; policy drop; }'
      nft add rule inet kill out oif lo accept
      $here piconet doctor
      """)
    if outcome.lines.contains("no nft") { try Test.cancel("the kernel has no nf_tables: \(outcome.output)") }
    #expect(outcome.output.contains("a firewall drops what this machine sends to others on lan"), "\(outcome.output)")
    #expect(outcome.lines.contains { $0.contains("nobody outside this machine can be found") }, "\(outcome.output)")
  }
}
