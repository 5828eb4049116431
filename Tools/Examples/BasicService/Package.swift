// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "BasicService",
  dependencies: [.package(name: "Piconet", path: "../../..")],  // where your checkout of Piconet is
  targets: [
    .executableTarget(
      name: "BasicService",
      dependencies: [
        .product(name: "Piconet", package: "Piconet"), .product(name: "PiconetActors", package: "Piconet"),
      ])
  ]
)
