// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "imagesender",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [
    .executableTarget(
      name: "imagesender",
      // On Apple's systems a framework of this name is there already.
      dependencies: [.product(name: "GameKit", package: "Piconet", condition: .when(platforms: [.linux]))],
      // As Xcode's template does: the main actor, where nothing else is said.
      swiftSettings: [.defaultIsolation(MainActor.self)])
  ]
)
