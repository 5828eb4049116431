// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "cameraroll",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [.executableTarget(name: "cameraroll", dependencies: [.product(name: "Piconet", package: "Piconet")])]
)
