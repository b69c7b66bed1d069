// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// These tests form a separate package, so that `swift test` needs no other program, no network and no root rights.
let package = Package(
    name: "interop",
    dependencies: [.package(name: "causeway", path: ".."), .package(name: "examples", path: "../Examples")],
    targets: [
        // A program that uses NetService, compiled in the old Swift language mode.
        .executableTarget(
            name: "NetServiceProgram",
            dependencies: [
                .product(name: "Causeway", package: "causeway"),
                .product(name: "CausewayBonjour", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
            ],
            path: "Programs/NetServiceProgram", swiftSettings: [.swiftLanguageMode(.v5)]),
        // A program with the drop-in modules, built in an older language mode. It also imports a library whose type
        // names occur in Causeway too.
        .target(name: "OwnNames", path: "Programs/OwnNames"),
        .executableTarget(
            name: "DropInProgram",
            dependencies: [
                "OwnNames",
                .product(name: "CausewayStreams", package: "causeway"),
                .product(name: "Security", package: "causeway"),
                .product(name: "SystemConfiguration", package: "causeway"),
            ],
            path: "Programs/DropInProgram", swiftSettings: [.swiftLanguageMode(.v5)]),
        // A small program that the test kills while the program sends operations.
        .executableTarget(
            name: "OfflineProgram",
            dependencies: [
                .product(name: "CausewayClient", package: "causeway"),
                .product(name: "CausewayOffline", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
            ],
            path: "Programs/OfflineProgram", swiftSettings: house),
        // A test program that is written as for Apple's MultipeerConnectivity. Tests run it on several hosts.
        .executableTarget(
            name: "MultipeerProgram", dependencies: [.product(name: "MultipeerConnectivity", package: "causeway")],
            path: "Programs/MultipeerProgram", swiftSettings: [.swiftLanguageMode(.v5)]),
        // The tests look for the tool and for these programs in their own directory.
        .testTarget(
            name: "InteropTests",
            dependencies: [
                "DropInProgram", "MultipeerProgram", "NetServiceProgram", "OfflineProgram",
                .product(name: "Causeway", package: "causeway"),
                .product(name: "CausewayCapture", package: "causeway"),
                .product(name: "CausewayClient", package: "causeway"),
                .product(name: "CausewayHTTPServer", package: "causeway"),
                .product(name: "CausewayOffline", package: "causeway"),
                .product(name: "CausewayPeers", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
                .product(name: "nw", package: "causeway"),
                .product(name: "PeerChat", package: "examples"),
            ],
            swiftSettings: house),
    ],
    swiftLanguageModes: [.v6]
)
