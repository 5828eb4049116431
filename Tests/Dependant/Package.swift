// swift-tools-version: 6.2
import PackageDescription

// A package of somebody else's that uses Piconet: what the README shows. RepositoryTests build and run it.
let package = Package(
  name: "Dependant",
  dependencies: [.package(name: "Piconet", path: "../..")],
  targets: [.executableTarget(name: "hello", dependencies: [.product(name: "Piconet", package: "Piconet")])]
)
