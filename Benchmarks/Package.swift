// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// The benchmarks are a separate package, so that users of Causeway do not have to build them.
let package = Package(
    name: "causeway-benchmarks",
    dependencies: [.package(name: "causeway", path: "..")],
    targets: [
        .target(name: "CPlain"),
        .executableTarget(
            name: "StyleRatios", dependencies: ["CPlain", .product(name: "Causeway", package: "causeway")],
            swiftSettings: house),
        // This program is for the benchmark Scripts/packet-goals, which compares it with other tools.
        .executableTarget(
            name: "PacketGoals",
            dependencies: [
                .product(name: "CausewayCapture", package: "causeway"),
                .product(name: "CausewayPackets", package: "causeway"),
            ],
            swiftSettings: house),
        // The datagram-ratios benchmark compares this program with plain sockets.
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
        // Compares the typed HTTP client with URLSession. Needs a running server.
        .executableTarget(
            name: "ClientRatios",
            dependencies: [
                .product(name: "CausewayClient", package: "causeway"),
                .product(name: "CausewayURLLoading", package: "causeway"),
            ],
            swiftSettings: house),
        // Benchmark: compares the exchange of messages between peers with an echo server over TLS.
        .executableTarget(
            name: "PeerRatios",
            dependencies: [
                .product(name: "Causeway", package: "causeway"), .product(name: "CausewayPeers", package: "causeway"),
            ],
            swiftSettings: house),
        // Measures how fast responses come from the cache.
        .executableTarget(
            name: "CacheHits", dependencies: [.product(name: "CausewayURLLoading", package: "causeway")],
            swiftSettings: house),
        // The http-memory benchmark measures the memory of this program.
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
        // The script Scripts/check-downloads kills this program during downloads.
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
