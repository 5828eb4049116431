// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "multipeer",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [
    .executableTarget(
      name: "multipeer",
      // Apple's systems have the framework.
      dependencies: [.product(name: "MultipeerConnectivity", package: "Piconet", condition: .when(platforms: [.linux]))]
    )
  ]
)
