// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "hello",
  dependencies: [.package(name: "Piconet", path: "../..")],
  targets: [.executableTarget(name: "hello", dependencies: [.product(name: "Piconet", package: "Piconet")])]
)
