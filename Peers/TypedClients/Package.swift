// swift-tools-version: 6.2
import PackageDescription

// A separate package for one benchmark. Only this benchmark needs AsyncHTTPClient.
let package = Package(
    name: "typed-clients",
    dependencies: [
        .package(name: "causeway", path: "../.."),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.90.0"),
    ],
    targets: [
        .executableTarget(
            name: "TypedClients",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "CausewayClient", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("InternalImportsByDefault"),
            ])
    ])
