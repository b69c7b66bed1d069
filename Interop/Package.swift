// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A separate package, so that `swift test` needs no other program, no network and no rights of root.
let package = Package(
    name: "interop",
    dependencies: [.package(name: "causeway", path: ".."), .package(name: "examples", path: "../Examples")],
    targets: [
        // A program as written for NetService, in the language mode of its time.
        .executableTarget(
            name: "NetServiceProgram",
            dependencies: [
                .product(name: "Causeway", package: "causeway"),
                .product(name: "CausewayBonjour", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
            ],
            path: "Programs/NetServiceProgram", swiftSettings: [.swiftLanguageMode(.v5)]),
        // An old program with the drop-in modules, and a library whose type names also occur in Causeway.
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
        // A small program that a test kills while it sends operations.
        .executableTarget(
            name: "OfflineProgram",
            dependencies: [
                .product(name: "CausewayClient", package: "causeway"),
                .product(name: "CausewayOffline", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
            ],
            path: "Programs/OfflineProgram", swiftSettings: house),
        // A program as written for Apple's MultipeerConnectivity, for tests between hosts.
        .executableTarget(
            name: "MultipeerProgram", dependencies: [.product(name: "MultipeerConnectivity", package: "causeway")],
            path: "Programs/MultipeerProgram", swiftSettings: [.swiftLanguageMode(.v5)]),
        // The tests look for the tool and for the programs beside themselves.
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
