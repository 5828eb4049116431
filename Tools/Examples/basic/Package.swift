// swift-tools-version: 6.2
import PackageDescription

let piconet: [Target.Dependency] = [
  .product(name: "Piconet", package: "Piconet"), .product(name: "PiconetActors", package: "Piconet"),
]

let package = Package(
  name: "basic",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [
    .target(name: "BasicInterface", dependencies: piconet),
    .executableTarget(name: "BasicService", dependencies: piconet + ["BasicInterface"]),
    .executableTarget(name: "BasicClient", dependencies: piconet + ["BasicInterface"]),
  ]
)
