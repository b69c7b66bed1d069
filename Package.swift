// swift-tools-version: 6.2
import PackageDescription

#if canImport(Glibc)
    import Glibc
#endif

/// The settings of every target: Swift 6 mode with the upcoming features that require explicit imports and existentials.
let house: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]
/// The settings of layers that parse untrusted bytes: every use of a pointer needs the word `unsafe`.
let pure: [SwiftSetting] =
    house + [
        .enableUpcomingFeature("MemberImportVisibility"), .enableExperimentalFeature("Lifetimes"),
        .strictMemorySafety(),
    ]
/// The settings of layers that make system calls.
let system: [SwiftSetting] = house + [.enableExperimentalFeature("Lifetimes")]

/// Links the release build of the command-line tool statically with Swift's libraries: the dynamic linker had to resolve 32,000 symbols,
/// which was most of the run time of a short command. `CAUSEWAY_DYNAMIC=1` is for toolchains without static libraries.
let toolLinking: [LinkerSetting] =
    Context.environment["CAUSEWAY_DYNAMIC"] != nil
    ? []
    : [
        .unsafeFlags(
            [
                "-static-stdlib", "-use-ld=lld", "-lFoundationInternationalization", "-lFoundationEssentials",
                "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCShims", "-l_FoundationCollections",
                "-lswiftSynchronization", "-Xlinker", "--no-export-dynamic",
                // Binds all symbols at the start, makes the table read-only, and searches no library beside the program.
                "-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now",
                "-no-toolchain-stdlib-rpath", "-ld-path=" + Context.packageDirectory + "/Linking/without-rpath",
            ] + staticCPlusPlus + packedRelocations,
            .when(platforms: [.linux], configuration: .release))
    ]

/// Links the C++ library statically. Swift's libraries name its shared form; the scripts in `Linking` replace it if the compiler has the
/// static library, which some systems have in a separate package.
var staticCPlusPlus: [String] {
    #if canImport(Glibc)
        var found = glob_t()
        defer { globfree(&found) }
        guard glob("/usr/lib/gcc/*/*/libstdc++.a", 0, nil, &found) == 0 else { return [] }
        return ["-L", Context.packageDirectory + "/Linking"]
    #else
        return []
    #endif
}

/// Packs the 100,000 relocations of the tool, which reduces their size by a factor of 20. Only newer C libraries support that.
var packedRelocations: [String] {
    #if canImport(Glibc)
        return (__GLIBC__, __GLIBC_MINOR__) >= (2, 36) ? ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"] : []
    #else
        return []
    #endif
}

/// Links the image decoder, a program in C, without Swift's run time and without a search path for libraries beside it. Flags of a program do
/// not reach those that link the libraries, and packages with tools of 6.2 or later may depend on packages that have them.
let decoderLinking: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-nostartfiles", "-no-toolchain-stdlib-rpath",
            "-ld-path=" + Context.packageDirectory + "/Linking/without-swift",
        ], .when(platforms: [.linux]))
]

let package = Package(
    name: "causeway",
    products: [
        .library(name: "Causeway", targets: ["Causeway"]),
        .library(name: "Network", targets: ["Network"]),
        .library(name: "Security", targets: ["Security"]),
        .library(name: "SystemConfiguration", targets: ["SystemConfiguration"]),
        .library(name: "CausewayStreams", targets: ["CausewayStreams"]),
        .library(name: "CausewayLines", targets: ["CausewayLines"]),
        .library(name: "CausewayBonjour", targets: ["CausewayBonjour"]),
        .library(name: "CausewayURLLoading", targets: ["CausewayURLLoading"]),
        .library(name: "FoundationNetworking", targets: ["FoundationNetworking"]),
        .library(name: "CausewayObservability", targets: ["CausewayObservability"]),
        .library(name: "CausewayClient", targets: ["CausewayClient"]),
        .library(name: "CausewayOffline", targets: ["CausewayOffline"]),
        .library(name: "CausewayHTTPServer", targets: ["CausewayHTTPServer"]),
        .library(name: "CausewayFeeds", targets: ["CausewayFeeds"]),
        .library(name: "CausewayImages", targets: ["CausewayImages"]),
        .executable(name: "causeway-image-decoder", targets: ["causeway-image-decoder"]),
        .library(name: "CausewayPeers", targets: ["CausewayPeers"]),
        .library(name: "CausewayPeerActors", targets: ["CausewayPeerActors"]),
        .library(name: "MultipeerConnectivity", targets: ["MultipeerConnectivity"]),
        .library(name: "CausewayPackets", targets: ["CausewayPackets"]),
        .library(name: "CausewayCapture", targets: ["CausewayCapture"]),
        // For the packages Fuzz and Benchmarks. Only targets of this package see what they exercise and measure.
        .library(name: "CausewayExercises", targets: ["CausewayExercises"]),
        .library(name: "CausewayMeasures", targets: ["CausewayMeasures"]),
        .executable(name: "nw", targets: ["nw"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Only for `CausewayObservability`. Programs without that product do not build these packages.
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    ],
    targets: [
        // Value types, and the common shape of the state machines. FoundationEssentials exports `POSIXErrorCode`, so that no libc has to be
        // imported; MemberImportVisibility would require that. Hence `house`.
        .target(
            name: "CausewayTypes", dependencies: ["CCausewayLinux"], swiftSettings: house + [.strictMemorySafety()]),
        .target(name: "CausewayWire", dependencies: ["CausewayTypes"], swiftSettings: pure),
        .target(
            name: "CausewayProtocols",
            dependencies: [
                "CausewayTypes", "CausewayWire",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: pure),
        // Multicast DNS and link-local addresses. A module apart, because it needs nothing of `CausewayProtocols`: the compiler makes both at the same time.
        .target(
            name: "CausewayBonjourProtocols",
            dependencies: [
                "CausewayTypes", "CausewayWire",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: pure),
        // HTTP/2, HTTP above one connection, and the queue of operations that wait for a way to the server, with its journal. A module apart,
        // because only URL loading, the server and what is above them need it: the compiler makes it beside `CausewayRuntime` and `Causeway`.
        .target(
            name: "CausewayHTTPProtocols",
            dependencies: [
                "CausewayTypes", "CausewayWire", "CausewayProtocols",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
            ],
            swiftSettings: pure),
        // Calls of the C library that Swift cannot make. The image decoder links it too, so it runs without Swift's runtime.
        .target(name: "CCausewayLinux"),
        // Multipeer sessions and distributed actors without I/O: codecs, links, invitations, rosters, queues, the mesh of one peer, calls.
        .target(
            name: "CausewayPeerProtocols",
            dependencies: [
                "CausewayTypes", "CausewayWire",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: pure),
        // Libraries that are loaded at run time, a folder for each use: PAC scripts, content codings, GSSAPI, OpenSSL.
        .target(name: "CCausewayLibraries", dependencies: ["CCausewayLinux"]),
        .target(
            name: "CausewaySystem",
            dependencies: ["CausewayTypes", "CausewayWire", "CCausewayLinux", "CCausewayLibraries"],
            swiftSettings: system),
        .target(
            name: "CausewayRuntime",
            dependencies: [
                "CausewayTypes", "CausewayWire", "CausewayProtocols", "CausewayBonjourProtocols", "CausewaySystem",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: system),
        .target(
            name: "CausewayTLS",
            dependencies: ["CausewayTypes", "CausewayProtocols", "CausewaySystem", "CCausewayLibraries"],
            swiftSettings: house),
        .target(
            name: "Causeway",
            dependencies: [
                "CausewayTypes", "CausewayWire", "CausewayProtocols", "CausewayBonjourProtocols", "CausewaySystem",
                "CausewayRuntime", "CausewayTLS", "CCausewayLibraries",
            ],
            swiftSettings: house),
        // The HTTP engine. No product: programs use it through URLSession.
        .target(
            name: "CausewayHTTP",
            dependencies: [
                "CCausewayLibraries", "Causeway", "CausewayHTTPProtocols", "CausewayProtocols", "CausewayRuntime",
                "CausewaySystem", "CausewayTypes", "CausewayWire",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        .target(
            name: "CausewayHTTPServer",
            dependencies: [
                "Causeway", "CausewayHTTPProtocols", "CausewayProtocols", "CausewayRuntime", "CausewaySystem",
                "CausewayTypes", "CausewayWire",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        .target(name: "Network", dependencies: ["Causeway", "FoundationNetworking"], swiftSettings: house),
        .target(name: "Security", dependencies: ["Causeway"], swiftSettings: house),
        .target(
            name: "SystemConfiguration", dependencies: ["Causeway", "CausewayStreams", "CausewaySystem"],
            swiftSettings: house),
        // Packet decoders without system calls. They parse untrusted input.
        .target(name: "CausewayPackets", dependencies: ["CausewayTypes", "CausewayWire"], swiftSettings: pure),
        .target(
            name: "CausewayCapture", dependencies: ["CausewayPackets", "CausewaySystem"], swiftSettings: system),
        .target(name: "CausewayStreams", dependencies: ["Causeway", "CausewaySystem"], swiftSettings: house),
        .target(
            name: "CausewayLines", dependencies: ["Causeway", "CausewayRuntime", "CausewayStreams", "CausewaySystem"],
            swiftSettings: house),
        .target(
            name: "CausewayBonjour",
            dependencies: [
                "Causeway", "CausewayBonjourProtocols", "CausewayProtocols", "CausewayRuntime", "CausewayStreams",
                "CausewaySystem",
                "CausewayTypes",
                "CausewayWire",
            ],
            swiftSettings: house),
        // URLSession and its relatives.
        .target(
            name: "CausewayURLLoading",
            dependencies: [
                "CCausewayLibraries", "Causeway", "CausewayBonjour", "CausewayHTTP", "CausewayHTTPProtocols",
                "CausewayProtocols", "CausewayStreams", "CausewaySystem", "CausewayWire",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        // It has the name of a module of the toolchain. A target that imports that name must depend on this one, directly or not;
        // otherwise the order of the build decides between the two modules.
        .target(name: "FoundationNetworking", dependencies: ["CausewayURLLoading"], swiftSettings: house),
        // Observers of `URLSession` for logs, metrics and traces.
        .target(
            name: "CausewayObservability",
            dependencies: [
                "CausewayURLLoading", .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: house),
        // A client of one HTTP server, over `URLSession`.
        .target(
            name: "CausewayClient",
            dependencies: [
                "Causeway", "CausewayMarkup", "CausewaySystem", "CausewayTypes", "CausewayURLLoading",
                "CausewayWire", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        // Operations that wait for a way to the server and survive restarts.
        .target(
            name: "CausewayOffline",
            dependencies: ["CausewayClient", "CausewayHTTPProtocols", "CausewaySystem", "CausewayURLLoading"],
            swiftSettings: house),
        // XML, HTML, encodings and the values of feeds, and a reader that follows feeds.
        .target(name: "CausewayMarkup", dependencies: ["CCausewayLinux"], swiftSettings: pure),
        .target(
            name: "CausewayFeeds", dependencies: ["CausewayMarkup", "CausewayTypes", "CausewayURLLoading"],
            swiftSettings: house),
        // Images: the decoder program, bitmaps and slots without I/O, and the loader. The loader depends on the program so that it is built
        // beside each program that loads images.
        .target(name: "CCausewayImages", dependencies: ["CCausewayLinux"], exclude: ["Program"]),
        .executableTarget(
            name: "causeway-image-decoder", dependencies: ["CCausewayImages"], path: "Sources/CCausewayImages/Program",
            linkerSettings: decoderLinking),
        .target(name: "CausewayImageFormats", swiftSettings: pure),
        .target(
            name: "CausewayImages",
            dependencies: [
                "CausewayImageFormats", "CausewaySystem", "CausewayTypes", "CausewayURLLoading", "CausewayWire",
                "causeway-image-decoder",
            ],
            swiftSettings: house),
        // Sessions of nearby peers, on the public API of `Causeway`.
        .target(
            name: "CausewayPeers",
            dependencies: ["Causeway", "CausewayPeerProtocols", "CausewaySystem", "CausewayTLS"], swiftSettings: house),
        // Distributed actors of nearby peers: the actor system on sessions.
        .target(
            name: "CausewayPeerActors",
            dependencies: [
                "Causeway", "CausewayPeerProtocols", "CausewayPeers", "CausewaySystem", "CCausewayLinux",
            ],
            swiftSettings: house),
        // Apple's framework for sessions of nearby peers, on `CausewayPeers`.
        .target(
            name: "MultipeerConnectivity",
            dependencies: [
                "Causeway", "CausewayPeers", "CausewayStreams", "CausewaySystem", "CausewayTypes", "CausewayURLLoading",
            ],
            swiftSettings: house),
        // The first program of a newcomer. It depends on `Causeway` alone, so that it is built soon.
        .executableTarget(name: "tour", dependencies: ["Causeway"], path: "Examples/tour", swiftSettings: house),
        .executableTarget(
            name: "nw",
            dependencies: [
                "Causeway", "CausewayCapture", "CausewayClient", "CausewayFeeds", "CausewayHTTP",
                "CausewayHTTPProtocols", "CausewayHTTPServer", "CausewayLines", "CausewayPackets", "CCausewayImages",
                "CausewayImageFormats",
                "CausewayImages", "CausewayPeers", "MultipeerConnectivity",
                "CausewayProtocols", "CausewayRuntime",
                "CausewaySystem", "CausewayTLS", "CausewayTypes", "CausewayURLLoading", "CausewayWire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house, linkerSettings: toolLinking),

        // A virtual clock, a scripted kernel, a simulated link and repeatable random numbers.
        .target(
            name: "CausewayTestKit",
            dependencies: [
                "CausewayProtocols", "CausewayRuntime", "CausewaySystem", "CausewayTypes",
            ],
            path: "Tests/CausewayTestKit", swiftSettings: house),
        .target(
            name: "CausewayExercises",
            dependencies: [
                "Causeway", "CausewayBonjourProtocols", "CausewayMarkup", "CausewayHTTP", "CausewayHTTPProtocols",
                "CausewayImageFormats",
                "CausewayProtocols",
                "CausewayTestKit", "CausewayTLS", "CausewayPeerProtocols",
                "CausewayTypes", "CausewayWire",
            ],
            path: "Fuzz/Exercises", swiftSettings: house),
        .target(
            name: "CausewayMeasures",
            dependencies: [
                "CausewayHTTP", "CausewayProtocols", "CausewayRuntime", "CausewaySystem", "CausewayTypes",
                "CausewayWire",
            ],
            path: "Benchmarks/Measures", swiftSettings: house),
        .testTarget(name: "CausewayTypesTests", dependencies: ["CausewayTypes"], swiftSettings: house),
        .testTarget(
            name: "CausewayPacketsTests", dependencies: ["CausewayPackets", "CausewayTLS"], swiftSettings: house),
        .testTarget(name: "CausewayWireTests", dependencies: ["CausewayWire"], swiftSettings: house),
        .testTarget(
            name: "CausewayProtocolsTests",
            dependencies: ["CausewayExercises", "CausewayProtocols", "CausewayTestKit", "CausewayTypes"],
            swiftSettings: house),
        .testTarget(
            name: "CausewayBonjourProtocolsTests",
            dependencies: ["CausewayBonjourProtocols", "CausewayExercises", "CausewayTestKit"], swiftSettings: house),
        .testTarget(
            name: "CausewayHTTPProtocolsTests",
            dependencies: ["CausewayExercises", "CausewayHTTPProtocols", "CausewayProtocols", "CausewayTestKit"],
            swiftSettings: house),
        .testTarget(
            name: "CausewayPeerProtocolsTests",
            dependencies: [
                "CausewayExercises", "CausewayPeerProtocols", "CausewayTestKit", "CausewayTypes",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: house),
        .testTarget(name: "CausewaySystemTests", dependencies: ["CausewaySystem"], swiftSettings: house),
        .testTarget(
            name: "CausewayRuntimeTests", dependencies: ["CausewayRuntime", "CausewayTestKit"], swiftSettings: house),
        .target(name: "CCausewayOpenSSLHeaders", path: "Tests/CCausewayOpenSSLHeaders"),
        .testTarget(
            name: "CausewayTLSTests",
            dependencies: [
                "CausewayExercises", "CausewayProtocols", "CausewayTestKit", "CausewayTLS", "CausewayWire",
                "CCausewayLibraries", "CCausewayOpenSSLHeaders",
            ],
            swiftSettings: house),
        .testTarget(
            name: "CausewayTests",
            dependencies: [
                "Causeway", "CausewayProtocols", "CausewayRuntime", "CausewaySystem", "CausewayTLS", "CausewayWire",
                "Network", "Security", "SystemConfiguration",
            ],
            swiftSettings: house),
        .testTarget(
            name: "CausewayHTTPTests",
            dependencies: [
                "Causeway", "CausewayExercises", "CausewayHTTP", "CausewayHTTPProtocols", "CausewayProtocols",
                "CausewaySystem",
                "CausewayTestKit", "CausewayTypes", "CausewayWire",
            ],
            swiftSettings: house),
        .testTarget(
            name: "CausewayHTTPServerTests",
            dependencies: ["CausewayHTTPServer", "CausewayProtocols", "CausewaySystem"], swiftSettings: house),
        // Programs as written for Apple's framework, in both language modes and without the settings above.
        .testTarget(name: "ProgramTests", dependencies: ["Network"]),
        .testTarget(
            name: "ProgramSwift5Tests", dependencies: ["Network"], swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(
            name: "LoopbackTests",
            dependencies: [
                "Causeway", "CausewayBonjour", "CausewayClient", "CausewayHTTP", "CausewayHTTPProtocols",
                "CausewayHTTPServer", "CausewayLines",
                "CausewayOffline", "CausewayProtocols", "CausewayPeerActors", "CausewayPeerProtocols", "CausewayPeers",
                "CausewayRuntime",
                "CausewayStreams", "CausewaySystem", "CausewayTestKit", "CausewayTLS", "CausewayURLLoading",
                "CausewayWire", "MultipeerConnectivity",
            ],
            swiftSettings: house),
        .testTarget(name: "CausewayBonjourTests", dependencies: ["CausewayBonjour"], swiftSettings: house),
        .testTarget(name: "CausewayStreamsTests", dependencies: ["CausewayStreams"], swiftSettings: house),
        .testTarget(name: "CausewayLinesTests", dependencies: ["CausewayLines"], swiftSettings: house),
        .testTarget(
            name: "CausewayURLLoadingTests",
            dependencies: [
                "Causeway", "CausewayHTTP", "CausewayHTTPProtocols", "CausewayProtocols", "CausewaySystem",
                "CausewayTestKit", "CausewayURLLoading", "CausewayWire",
            ],
            swiftSettings: house),
        .testTarget(
            name: "CausewayObservabilityTests",
            dependencies: [
                "CausewayObservability", .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "CausewayClientTests",
            dependencies: ["CausewayClient", "CausewaySystem", "CausewayTestKit", "CausewayURLLoading"],
            swiftSettings: house),
        .testTarget(
            name: "CausewayReplayTests",
            dependencies: ["CausewayExercises", "CausewayHTTPProtocols", "CausewayTestKit"],
            swiftSettings: house),
        .testTarget(
            name: "CausewayOfflineTests",
            dependencies: [
                "CausewayClient", "CausewayHTTPProtocols", "CausewayOffline", "CausewaySystem", "CausewayTestKit",
                "CausewayURLLoading",
            ],
            swiftSettings: house),
        .testTarget(
            name: "CausewayFeedsTests",
            dependencies: ["CausewayFeeds", "CausewayMarkup", "CausewayURLLoading"],
            swiftSettings: house),
        .testTarget(
            name: "CausewayImagesTests",
            dependencies: [
                "CausewayExercises", "CausewayImageFormats", "CausewayImages", "CausewaySystem",
                "CausewayTestKit", "CausewayURLLoading",
            ],
            swiftSettings: house),
        .testTarget(
            name: "CausewayPeersTests",
            dependencies: ["Causeway", "CausewayPeerProtocols", "CausewayPeers", "CausewayTestKit"],
            swiftSettings: house),
        .testTarget(
            name: "CausewayPeerActorsTests",
            dependencies: [
                "CausewayExercises", "CausewayPeerActors", "CausewayPeerProtocols", "CausewayPeers", "CausewayTestKit",
            ],
            swiftSettings: house),
        .testTarget(
            name: "MultipeerConnectivityTests",
            dependencies: [
                "CausewayPeers", "CausewayStreams", "CausewaySystem", "CausewayTypes", "MultipeerConnectivity",
            ],
            swiftSettings: house),
        // Programs as written for Apple's MultipeerConnectivity, in both language modes and without the settings above.
        .testTarget(name: "MultipeerProgramTests", dependencies: ["MultipeerConnectivity"]),
        .testTarget(
            name: "MultipeerSwift5Tests", dependencies: ["MultipeerConnectivity"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        // Programs as written for Apple's URL loading system, in both language modes and without the settings above.
        .testTarget(name: "URLLoadingProgramTests", dependencies: ["CausewayURLLoading"]),
        .testTarget(
            name: "URLLoadingSwift5Tests", dependencies: ["CausewayURLLoading"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        .testTarget(name: "FoundationNetworkingTests", dependencies: ["Causeway", "FoundationNetworking"]),
        .testTarget(
            name: "FoundationNetworkingSwift5Tests", dependencies: ["Causeway", "FoundationNetworking"],
            swiftSettings: [.swiftLanguageMode(.v5)]),
        // Parts of the tool, and the tool as a program, without a peer.
        .testTarget(
            name: "NWTests",
            dependencies: [
                "Causeway", "CausewayHTTP", "CausewayHTTPProtocols", "CausewayHTTPServer", "CausewayLines",
                "CausewayPeers", "CausewayProtocols", "CausewayTypes", "CausewayWire", "nw",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: house),
    ],
    swiftLanguageModes: [.v6]
)

// `Scripts/make-overlay` builds one library of all that the module FoundationNetworking needs.
if Context.environment["CAUSEWAY_OVERLAY"] != nil {
    package.products.append(.library(name: "CausewayOverlay", type: .dynamic, targets: ["FoundationNetworking"]))
}

// `CAUSEWAY_STORMS=1` leaves only the storms in `LoopbackTests`, and what they need: sanitizers make compilation slow.
if Context.environment["CAUSEWAY_STORMS"] != nil {
    let http = ["ScriptedServer", "ScriptedRequest", "URLSessionSupport", "URLSessionTests"]
    package.targets.first { $0.name == "LoopbackTests" }?.sources =
        ["Loopback.swift", "Stress", "Support"] + http.map { "HTTP/\($0).swift" }
}

// `CAUSEWAY_TESTS=LoopbackTests` builds only that test target (or several, with commas) and its dependencies. Sanitizer builds, which run
// one suite, then need not compile the tools and the other tests.
if let wanted = Context.environment["CAUSEWAY_TESTS"] {
    var needed: Set<String> = []
    var reached = wanted.split(separator: ",").map(String.init)
    while let name = reached.popLast() {
        guard needed.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else {
            continue
        }
        for case .byNameItem(let dependency, _) in target.dependencies { reached.append(dependency) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { !needed.contains($0.name) }
}
