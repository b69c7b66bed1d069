// swift-tools-version: 6.2
import PackageDescription

let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// This package is separate because its executables cannot be linked without the fuzzer (see README.md).
let package = Package(
    name: "causeway-fuzz",
    dependencies: [.package(name: "causeway", path: "..")],
    targets: [
        .target(name: "CFuzzerMain"),
        .executableTarget(
            name: "FuzzAddresses",
            dependencies: ["CFuzzerMain", .product(name: "Causeway", package: "causeway")],
            swiftSettings: house),
    ]
        // These fuzzers test internal state machines and parsers. CausewayExercises can access them and checks their
        // invariants.
        + [
            "FuzzWebSocket", "FuzzUpgradeHead", "FuzzHTTPHead", "FuzzHTTPChunks", "FuzzHTTP1", "FuzzHTTP2",
            "FuzzHTTP1Calls", "FuzzHTTP2Calls",
            "FuzzFramer",
            "FuzzTLS", "FuzzCertificates", "FuzzDNS", "FuzzDBus", "FuzzChallenges", "FuzzCookies", "FuzzReferences",
            "FuzzCodings", "FuzzCache", "FuzzFields", "FuzzFeeds", "FuzzImages", "FuzzJournal", "FuzzPeers",
            "FuzzActors",
        ].map {
            .executableTarget(
                name: $0, dependencies: ["CFuzzerMain", .product(name: "CausewayExercises", package: "causeway")],
                swiftSettings: house)
        }
        + ["FuzzPackets", "FuzzPacketFilter", "FuzzCaptureFile"].map {
            .executableTarget(
                name: $0, dependencies: ["CFuzzerMain", .product(name: "CausewayPackets", package: "causeway")],
                swiftSettings: house)
        },
    swiftLanguageModes: [.v6]
)
