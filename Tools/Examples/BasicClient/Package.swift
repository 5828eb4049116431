// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "BasicClient",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [
    .executableTarget(
      name: "BasicClient",
      dependencies: [
        .product(name: "Piconet", package: "Piconet"), .product(name: "PiconetActors", package: "Piconet"),
      ])
  ]
)
