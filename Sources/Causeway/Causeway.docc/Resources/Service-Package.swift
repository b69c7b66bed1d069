// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Greetings",
    dependencies: [.package(path: "../causeway")],
    targets: [
        .executableTarget(name: "Greeting", dependencies: [.product(name: "Network", package: "causeway")]),
        .executableTarget(name: "Visitor", dependencies: [.product(name: "Network", package: "causeway")]),
    ]
)
