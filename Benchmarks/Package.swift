// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// A separate package, so that users of Causeway do not build it.
let package = Package(
    name: "causeway-benchmarks",
    dependencies: [.package(name: "causeway", path: "..")],
    targets: [
        .target(name: "CPlain"),
        .executableTarget(
            name: "StyleRatios", dependencies: ["CPlain", .product(name: "Causeway", package: "causeway")],
            swiftSettings: house),
        // Scripts/packet-goals compares this program with other tools.
        .executableTarget(
            name: "PacketGoals",
            dependencies: [
                .product(name: "CausewayCapture", package: "causeway"),
                .product(name: "CausewayPackets", package: "causeway"),
            ],
            swiftSettings: house),
        // datagram-ratios compares this program with plain sockets.
        .executableTarget(
            name: "DatagramRatios", dependencies: [.product(name: "Causeway", package: "causeway")],
            swiftSettings: house),
        // http-ratios compares this program with libcurl and with the toolchain's URL loading.
        .executableTarget(
            name: "HTTPClients",
            dependencies: [
                .product(name: "CausewayMeasures", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
            ],
            swiftSettings: house),
        // Compares the typed client with URLSession, against a running server.
        .executableTarget(
            name: "ClientRatios",
            dependencies: [
                .product(name: "CausewayClient", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
            ],
            swiftSettings: house),
        // Compares messages between peers with an echo over TLS.
        .executableTarget(
            name: "PeerRatios",
            dependencies: [
                .product(name: "Causeway", package: "causeway"), .product(name: "CausewayPeers", package: "causeway"),
            ],
            swiftSettings: house),
        // Measures responses from the cache.
        .executableTarget(
            name: "CacheHits", dependencies: [.product(name: "CausewayURLLoading", package: "causeway")],
            swiftSettings: house),
        // http-memory measures the memory of this program.
        .executableTarget(
            name: "HTTPMemory", dependencies: [.product(name: "CausewayURLLoading", package: "causeway")],
            swiftSettings: house),
        // server-ratios compares this program with nginx; http-memory measures its memory.
        .executableTarget(
            name: "HTTPFileServer",
            dependencies: [
                .product(name: "Causeway", package: "causeway"),
                .product(name: "CausewayHTTPServer", package: "causeway"),
            ],
            swiftSettings: house),
        // Scripts/check-downloads kills this program.
        .executableTarget(
            name: "DownloadClient", dependencies: [.product(name: "CausewayURLLoading", package: "causeway")],
            swiftSettings: house),
        // Scripts/cache-kills kills this program.
        .executableTarget(
            name: "CacheKills", dependencies: [.product(name: "CausewayURLLoading", package: "causeway")],
            swiftSettings: house),
        .executableTarget(
            name: "ResolverRatios", dependencies: [.product(name: "CausewayMeasures", package: "causeway")],
            swiftSettings: house),
    ],
    swiftLanguageModes: [.v6]
)
