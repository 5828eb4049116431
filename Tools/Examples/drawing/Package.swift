// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "drawing",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [.executableTarget(name: "drawing", dependencies: [.product(name: "Piconet", package: "Piconet")])]
)
