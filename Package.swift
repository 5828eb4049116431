// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target of this package: Swift 6 mode, warnings are errors, no use of a module that is not declared.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

/// Async functions run where their caller runs, so that a message costs no change of executors.
let strictOnCaller = strict + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]

let package = Package(
  name: "Piconet",
  products: [
    .library(name: "Piconet", targets: ["Piconet"]),
    .library(name: "PiconetFoundation", targets: ["PiconetFoundation"]),
    .library(name: "GameKit", targets: ["GameKit"]),
    .library(name: "PiconetTerminal", targets: ["PiconetTerminal"]),
    .library(name: "PiconetActors", targets: ["PiconetActors"]),
    .library(name: "PiconetTestKit", targets: ["PiconetTestKit"]),
    .library(name: "MultipeerConnectivity", targets: ["MultipeerConnectivity"]),
    .library(name: "UIKit", targets: ["UIKit"]),
    .executable(name: "imagesend", targets: ["imagesend"]),
    .executable(name: "imagerecv", targets: ["imagerecv"]),
    .executable(name: "piconet", targets: ["piconet"]),
    .executable(name: "piconet-thumbnail", targets: ["piconet-thumbnail"]),
  ],
  traits: [
    .default(enabledTraits: ["Bluetooth"]),
    .trait(name: "Bluetooth", description: "RFCOMM, L2CAP and LE through BlueZ; needs libbluetooth and libsystemd"),
  ],
  targets: [
    // C: what Swift's Glibc module does not import, OpenSSL, and BlueZ.
    .target(name: "CPiconetSystem"),
    .target(name: "CPiconetHTTP"),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .target(name: "CPiconetOpenSSL", dependencies: ["COpenSSL"]),
    .systemLibrary(name: "CBluetooth", pkgConfig: "bluez", providers: [.apt(["libbluetooth-dev"])]),
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .target(name: "CPiconetBluetooth", dependencies: ["CBluetooth", "CSystemd"]),

    // Pure: the standard library only.
    .target(name: "PiconetWire", swiftSettings: strict),
    .target(name: "PiconetEngine", dependencies: ["PiconetWire"], swiftSettings: strict),
    .target(name: "PiconetDNSSD", swiftSettings: strict),
    .target(name: "PiconetCalls", swiftSettings: strict),
    .target(name: "PiconetSDP", dependencies: ["PiconetWire"], swiftSettings: strict),
    .target(name: "PiconetDBusValues", swiftSettings: strict),
    .target(
      name: "PiconetBlueZ", dependencies: ["PiconetSDP", "PiconetDBusValues", "PiconetEngine", "PiconetWire"],
      swiftSettings: strict),
    .target(
      name: "PiconetTestKit", dependencies: ["PiconetEngine", "PiconetWire", "PiconetCalls"],
      swiftSettings: strict),

    // The edge: sockets, files, keys, time.
    .target(
      name: "PiconetRuntime", dependencies: ["PiconetEngine", "PiconetWire", "CPiconetSystem"],
      swiftSettings: strict),
    .target(
      name: "PiconetTLS", dependencies: ["PiconetEngine", "PiconetWire", "CPiconetOpenSSL"],
      swiftSettings: strict),
    .target(
      name: "PiconetIP",
      dependencies: ["PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetDNSSD", "CPiconetSystem"],
      swiftSettings: strict),
    .target(
      name: "PiconetDBus", dependencies: ["PiconetDBusValues", "PiconetEngine", "PiconetRuntime", "CSystemd"],
      swiftSettings: strict),
    .target(
      name: "PiconetAvahi",
      dependencies: ["PiconetDNSSD", "PiconetDBus", "PiconetDBusValues", "PiconetEngine", "PiconetRuntime"],
      swiftSettings: strict),
    .target(
      name: "PiconetBluetooth",
      dependencies: [
        "PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetSDP", "PiconetBlueZ", "PiconetDBus",
        "PiconetDBusValues", "CPiconetBluetooth", "CBluetooth", "CPiconetSystem", "COpenSSL",
      ],
      swiftSettings: strict),
    .target(
      name: "PiconetFiles",
      dependencies: ["PiconetEngine", "PiconetWire", "CPiconetSystem", "COpenSSL"],
      swiftSettings: strict),
    .target(
      name: "PiconetHTTP", dependencies: ["PiconetRuntime", "CPiconetHTTP", "CPiconetSystem"], swiftSettings: strict),

    // The public module: the only one that wires the real parts together.
    .target(
      name: "Piconet",
      dependencies: [
        "PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetIP", "PiconetTLS", "PiconetFiles",
        "PiconetHTTP",
        .target(name: "PiconetBluetooth", condition: .when(traits: ["Bluetooth"])),
        .target(name: "PiconetAvahi", condition: .when(traits: ["Bluetooth"])),
        "PiconetDNSSD", "PiconetSDP", "CPiconetSystem",
      ],
      swiftSettings: strictOnCaller),

    // Remote objects, over the public interface alone.
    .target(name: "CPiconetActors"),
    .target(
      name: "PiconetActors", dependencies: ["Piconet", "PiconetCalls", "CPiconetActors"], swiftSettings: strictOnCaller),

    // The public module for programs that use Foundation.
    .target(name: "PiconetFoundation", dependencies: ["Piconet"], swiftSettings: strictOnCaller),

    // The person at a terminal, for programs that ask which peer is meant, and whether one may connect.
    .target(name: "PiconetTerminal", dependencies: ["Piconet", "CPiconetSystem"], swiftSettings: strict),

    // The interfaces of Apple's frameworks, for programs that were written for those.
    // The C targets have nothing but the submodules of `import GameKit.GKSession`.
    .target(name: "CGameKit"),
    .target(
      name: "GameKit", dependencies: ["Piconet", "PiconetTerminal", "PiconetDevice", "CGameKit"], swiftSettings: strict),
    .target(name: "CMultipeerConnectivity"),
    .target(
      name: "MultipeerConnectivity",
      dependencies: ["PiconetFoundation", "Piconet", "PiconetTerminal", "PiconetDevice", "CMultipeerConnectivity"],
      swiftSettings: strictOnCaller),

    // `UIDevice`, which comes with both, as on iOS; and the module by whose name it is imported. That one is apart, so
    // that `canImport(UIKit)` holds only where a program depends on it.
    .target(name: "PiconetDevice", swiftSettings: strict),
    .target(name: "UIKit", dependencies: ["PiconetDevice"], swiftSettings: strict),

    // Tools.
    // Threads for the programs' tasks.
    .target(name: "PiconetTaskPool", dependencies: ["CPiconetSystem"], path: "Tools/TaskPool"),
    .target(
      name: "PiconetCommandLine",
      dependencies: [
        "Piconet", "PiconetActors", "PiconetCalls", "PiconetTerminal", "PiconetTaskPool", "CPiconetSystem",
        .target(name: "PiconetBluetooth", condition: .when(traits: ["Bluetooth"])),
      ],
      path: "Tools/CommandLine", exclude: ["EVENTS.md"], swiftSettings: strict),
    .executableTarget(
      name: "imagesend", dependencies: ["PiconetCommandLine"], path: "Tools/imagesend-program",
      swiftSettings: strict),
    .executableTarget(
      name: "imagerecv", dependencies: ["PiconetCommandLine"], path: "Tools/imagerecv-program",
      swiftSettings: strict),
    .executableTarget(
      name: "piconet", dependencies: ["PiconetCommandLine"], path: "Tools/piconet-program",
      swiftSettings: strict),
    // Decodes pictures without rights; the programs find it beside themselves. C, and the only one that has these
    // libraries.
    .target(
      name: "PiconetThumbnail", dependencies: ["CPiconetSystem"], path: "Tools/Thumbnail",
      linkerSettings: [.linkedLibrary("jpeg"), .linkedLibrary("png16"), .linkedLibrary("seccomp")]),
    .executableTarget(
      name: "piconet-thumbnail", dependencies: ["PiconetThumbnail"], path: "Tools/piconet-thumbnail-program"),
    .executableTarget(
      name: "piconet-benchmark", dependencies: ["Piconet", "PiconetActors", "CPiconetSystem"],
      path: "Tools/BenchmarkProgram", swiftSettings: strictOnCaller),
    .executableTarget(
      name: "multipeer-benchmark", dependencies: ["MultipeerConnectivity", "Piconet", "CPiconetSystem"],
      path: "Tools/MultipeerBenchmark", swiftSettings: strict),
    .executableTarget(
      name: "effect-hashes", dependencies: ["PiconetTestKit", "PiconetEngine"], path: "Tools/EffectHashes",
      swiftSettings: strict),
    .executableTarget(
      name: "dnssd-tool",
      dependencies: [
        "PiconetIP", "PiconetEngine", "PiconetWire", "PiconetRuntime",
        .target(name: "PiconetAvahi", condition: .when(traits: ["Bluetooth"])),
      ],
      path: "Tools/DNSServiceDiscoveryTool", swiftSettings: strict),
    .executableTarget(
      name: "tls-baseline", dependencies: ["COpenSSL"], path: "Tools/BenchmarkBaseline"),
    .executableTarget(name: "shaped-link", path: "Tools/ShapedLink"),
    .target(
      name: "FarAdapter",
      dependencies: [
        "PiconetEngine", "PiconetWire", "PiconetRuntime", "PiconetIP", "CPiconetSystem",
        .target(name: "PiconetBluetooth", condition: .when(traits: ["Bluetooth"])),
        .target(name: "PiconetSDP", condition: .when(traits: ["Bluetooth"])),
      ],
      path: "Tools/FarAdapter", swiftSettings: strict),
    .executableTarget(
      name: "far-adapter",
      dependencies: [
        "FarAdapter", "PiconetEngine", "PiconetIP", "PiconetRuntime",
        .target(name: "PiconetBluetooth", condition: .when(traits: ["Bluetooth"])),
      ],
      path: "Tools/FarAdapterProgram", swiftSettings: strict),

    // Tests.
    .target(
      name: "TestSupport", dependencies: ["PiconetRuntime", "PiconetEngine"], path: "Tests/TestSupport",
      swiftSettings: strict),
    .testTarget(name: "PiconetWireTests", dependencies: ["PiconetWire"], swiftSettings: strict),
    .testTarget(
      name: "PiconetEngineTests", dependencies: ["PiconetEngine", "PiconetWire"],
      swiftSettings: strict),
    .testTarget(
      name: "PiconetSimulationTests",
      dependencies: ["PiconetTestKit", "PiconetFiles", "PiconetEngine", "PiconetWire", "PiconetCalls"],
      swiftSettings: strict),
    .testTarget(
      name: "PiconetDNSSDTests", dependencies: ["PiconetDNSSD", "PiconetEngine"], swiftSettings: strict),
    .testTarget(name: "PiconetCallsTests", dependencies: ["PiconetCalls"], swiftSettings: strict),
    .testTarget(
      name: "PiconetActorsTests", dependencies: ["TestSupport", "PiconetActors", "Piconet", "PiconetCalls"],
      swiftSettings: strict),
    .testTarget(
      name: "PiconetTLSTests", dependencies: ["PiconetTLS", "PiconetEngine", "PiconetWire", "CPiconetOpenSSL"],
      swiftSettings: strict),
    .testTarget(
      name: "PiconetRuntimeTests",
      dependencies: [
        "TestSupport", "PiconetRuntime", "PiconetTestKit", "PiconetEngine", "PiconetWire", "CPiconetSystem",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PiconetIPTests",
      dependencies: [
        "TestSupport", "PiconetIP", "PiconetRuntime", "PiconetDNSSD", "PiconetEngine", "PiconetWire", "CPiconetSystem",
        "dnssd-tool",
        .target(name: "PiconetAvahi", condition: .when(traits: ["Bluetooth"])),
        .target(name: "PiconetDBusValues", condition: .when(traits: ["Bluetooth"])),
      ],
      swiftSettings: strict),
    .testTarget(name: "PiconetSDPTests", dependencies: ["PiconetSDP", "PiconetWire"], swiftSettings: strict),
    .testTarget(
      name: "PiconetBlueZTests",
      dependencies: ["PiconetBlueZ", "PiconetDBusValues", "PiconetSDP", "PiconetEngine", "PiconetWire"],
      swiftSettings: strict),
    .testTarget(
      name: "PiconetBluetoothTests",
      dependencies: [
        "TestSupport", "PiconetBluetooth", "PiconetBlueZ", "PiconetDBus", "PiconetDBusValues", "PiconetSDP",
        "PiconetRuntime", "PiconetEngine", "PiconetWire", "CPiconetBluetooth", "CPiconetSystem",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "PiconetFilesTests",
      dependencies: ["PiconetFiles", "PiconetTestKit", "PiconetEngine", "PiconetWire", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "PiconetHTTPTests", dependencies: ["PiconetHTTP", "Piconet"], swiftSettings: strict),
    .testTarget(
      name: "PiconetTests",
      dependencies: [
        "TestSupport", "Piconet", "PiconetEngine", "PiconetFiles", "PiconetTLS", "PiconetWire", "CPiconetOpenSSL",
        "CPiconetSystem",
      ],
      swiftSettings: strict),
    .testTarget(name: "PiconetFoundationTests", dependencies: ["PiconetFoundation"], swiftSettings: strict),
    .target(
      name: "GameKitSwift5Program", dependencies: ["GameKit"], path: "Tests/GameKitPrograms/Swift5",
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .target(
      name: "GameKitMainActorProgram", dependencies: ["GameKit"], path: "Tests/GameKitPrograms/MainActor",
      swiftSettings: [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self), .treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "gamekit-departures", dependencies: ["GameKit"], path: "Tests/GameKitDepartures",
      swiftSettings: strict),
    .testTarget(
      name: "GameKitTests",
      dependencies: [
        "TestSupport", "GameKit", "GameKitSwift5Program", "GameKitMainActorProgram", "Piconet", "PiconetTerminal",
        "gamekit-departures",
      ],
      swiftSettings: strict),
    .target(
      name: "MultipeerSwift5Program", dependencies: ["MultipeerConnectivity"], path: "Tests/MultipeerPrograms/Swift5",
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .target(
      name: "MultipeerSwift6Program", dependencies: ["MultipeerConnectivity"], path: "Tests/MultipeerPrograms/Swift6",
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    .target(
      name: "MultipeerMainActorProgram", dependencies: ["MultipeerConnectivity"],
      path: "Tests/MultipeerPrograms/MainActor",
      swiftSettings: [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self), .treatAllWarnings(as: .error)]),
    // One source, in each mode of the language and of isolation.
    .target(
      name: "MultipeerEventsSwift5", dependencies: ["MultipeerConnectivity"],
      path: "Tests/MultipeerPrograms/EventsSwift5",
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]),
    .target(
      name: "MultipeerEventsSwift5MainActor", dependencies: ["MultipeerConnectivity"],
      path: "Tests/MultipeerPrograms/EventsSwift5MainActor",
      swiftSettings: [.swiftLanguageMode(.v5), .defaultIsolation(MainActor.self), .treatAllWarnings(as: .error)]),
    .target(
      name: "MultipeerEventsSwift6", dependencies: ["MultipeerConnectivity"],
      path: "Tests/MultipeerPrograms/EventsSwift6",
      swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    .target(
      name: "MultipeerEventsSwift6MainActor", dependencies: ["MultipeerConnectivity"],
      path: "Tests/MultipeerPrograms/EventsSwift6MainActor",
      swiftSettings: [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self), .treatAllWarnings(as: .error)]),
    .executableTarget(
      name: "multipeer-rounds", dependencies: ["MultipeerConnectivity"], path: "Tests/MultipeerRounds",
      swiftSettings: strict),
    // The programs that were ported, to run in the virtual machine. They are packages of their own otherwise.
    .executableTarget(
      name: "multipeer-example", dependencies: ["MultipeerConnectivity"],
      path: "Tools/Examples/multipeer/Sources/multipeer", swiftSettings: [.swiftLanguageMode(.v6)]),
    .executableTarget(
      name: "imagesender-example", dependencies: ["GameKit"],
      path: "Tools/Examples/imagesender/Sources/imagesender",
      swiftSettings: [.swiftLanguageMode(.v6), .defaultIsolation(MainActor.self)]),
    .testTarget(
      name: "MultipeerConnectivityTests",
      dependencies: [
        "TestSupport", "MultipeerConnectivity", "MultipeerSwift5Program", "MultipeerSwift6Program",
        "MultipeerMainActorProgram", "MultipeerEventsSwift5", "MultipeerEventsSwift5MainActor",
        "MultipeerEventsSwift6", "MultipeerEventsSwift6MainActor", "PiconetDevice", "Piconet", "PiconetTerminal",
        "multipeer-rounds", "multipeer-example",
        "imagesender-example",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ArticleTests", dependencies: ["TestSupport", "Piconet", "PiconetActors"], swiftSettings: strict),
    .testTarget(
      name: "PiconetSessionSuite",
      dependencies: [
        "TestSupport", "Piconet", "PiconetActors", "PiconetEngine", "PiconetFiles", "PiconetIP", "PiconetRuntime",
        "PiconetTLS", "PiconetWire",
        "FarAdapter",
        .target(name: "PiconetBluetooth", condition: .when(traits: ["Bluetooth"])),
        .target(name: "PiconetSDP", condition: .when(traits: ["Bluetooth"])),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "FarAdapterTests",
      dependencies: ["FarAdapter", "PiconetEngine", "PiconetIP", "PiconetRuntime", "PiconetWire", "CPiconetSystem"],
      swiftSettings: strict),
    // What a confined program may do, on each kind of thread.
    .executableTarget(
      name: "confinement-probe",
      dependencies: ["PiconetCommandLine", "PiconetRuntime", "PiconetTerminal", "CPiconetSystem"],
      path: "Tests/ConfinementProbe", swiftSettings: strict),
    // What a program's tasks may rely on.
    .executableTarget(
      name: "task-pool-probe", dependencies: ["PiconetCommandLine"], path: "Tests/TaskPoolProbe", swiftSettings: strict),
    .executableTarget(
      name: "thumbnail-probe", dependencies: ["PiconetThumbnail"], path: "Tests/ThumbnailProbe"),
    .testTarget(
      name: "CommandLineTests",
      dependencies: [
        "TestSupport", "PiconetCommandLine", "PiconetTerminal", "Piconet", "PiconetActors", "PiconetCalls",
        "PiconetEngine", "PiconetRuntime", "PiconetWire", "CPiconetSystem", "imagesend",
        "imagerecv",
        "piconet", "piconet-thumbnail", "confinement-probe", "task-pool-probe",
        "thumbnail-probe",
        .target(name: "PiconetBluetooth", condition: .when(traits: ["Bluetooth"])),
        .target(name: "PiconetBlueZ", condition: .when(traits: ["Bluetooth"])),
        .target(name: "PiconetDBus", condition: .when(traits: ["Bluetooth"])),
        .target(name: "PiconetDBusValues", condition: .when(traits: ["Bluetooth"])),
        .target(name: "PiconetSDP", condition: .when(traits: ["Bluetooth"])),
        .target(name: "CSystemd", condition: .when(traits: ["Bluetooth"])),
      ],
      swiftSettings: strict),
    .testTarget(name: "BluetoothVMTests", dependencies: ["TestSupport", "far-adapter"], swiftSettings: strict),
    .testTarget(
      name: "ShapedLinkTests", dependencies: ["TestSupport", "imagesend", "imagerecv", "piconet", "shaped-link"],
      swiftSettings: strict),
    // A member of a group for Tests/Interoperability to meet.
    .executableTarget(
      name: "group-member", dependencies: ["Piconet"], path: "Tests/GroupMember", swiftSettings: strict),
    .testTarget(name: "RepositoryTests", swiftSettings: strict),
    .testTarget(name: "UdevTests", dependencies: ["TestSupport", "imagesend", "imagerecv"], swiftSettings: strict),
  ]
)

// `PICONET_TESTS=PiconetWireTests,PiconetTLSTests` builds these test targets and what they need, and nothing else;
// Tools/test sets it.
if let wanted = Context.environment["PICONET_TESTS"] {
  let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
  var kept: Set<String> = []
  var next = wanted.split(separator: ",").map(String.init)
  while let name = next.popLast() {
    guard let target = targets[name], kept.insert(name).inserted else { continue }
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): next.append(name)
      default: break
      }
    }
  }
  package.targets.removeAll { !kept.contains($0.name) }
  package.products = []
}

// `PICONET_OPTIMIZED=1` optimises the library, with its assertions: a fifth of the processor time for the simulated
// seeds, and a third less for sessions in a virtual machine. Tools/test sets it, and builds apart from `swift build`.
// Never for a package that depends on this one: SwiftPM takes such flags of none but the root package.
if Context.environment["PICONET_OPTIMIZED"] != nil {
  let library: Set = [
    "PiconetWire", "PiconetEngine", "PiconetTestKit", "PiconetDNSSD", "PiconetCalls", "PiconetSDP", "PiconetBlueZ",
    "PiconetDBusValues", "PiconetRuntime", "PiconetTLS", "PiconetIP", "PiconetDBus", "PiconetAvahi", "PiconetBluetooth",
    "PiconetFiles", "Piconet",
  ]
  for target in package.targets where library.contains(target.name) {
    target.swiftSettings?.append(
      .unsafeFlags([
        "-O", "-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2", "-Xfrontend", "-assert-config",
        "-Xfrontend", "Debug",
      ]))
  }
}
