// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "dropbox",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [.executableTarget(name: "dropbox", dependencies: [.product(name: "Piconet", package: "Piconet")])]
)
