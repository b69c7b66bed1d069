// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Echo",
    dependencies: [.package(path: "../causeway")],
    targets: [
        .executableTarget(name: "EchoServer", dependencies: [.product(name: "Network", package: "causeway")]),
        .executableTarget(name: "EchoClient", dependencies: [.product(name: "Network", package: "causeway")]),
    ]
)
