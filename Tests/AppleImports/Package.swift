// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "imports",
  dependencies: [.package(name: "Piconet", path: "../..")],
  targets: [
    .executableTarget(
      name: "imports",
      dependencies: ["GameKit", "MultipeerConnectivity", "UIKit"].map { .product(name: $0, package: "Piconet") },
      swiftSettings: [.swiftLanguageMode(.v5)])
  ]
)
