// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "game",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [.executableTarget(name: "game", dependencies: [.product(name: "Piconet", package: "Piconet")])]
)
