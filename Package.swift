// swift-tools-version: 6.2
import PackageDescription

#if canImport(Glibc)
    import Glibc
    /// Links the C++ library statically. Swift's libraries name its shared form; the scripts in `Linking` replace it if the compiler has the
    /// static library, which some systems have in a separate package.
    var staticCPlusPlus: [String] {
        var found = glob_t()
        defer { globfree(&found) }
        let status = glob("/usr/lib/gcc/*/*/libstdc++.a", 0, nil, &found)
        return status == 0 ? ["-L", Context.packageDirectory + "/Linking"] : []
    }
    /// Packs the 100,000 relocations of the tool, which reduces their size by a factor of 20. Only newer C libraries support that.
    let packedRelocations =
        (__GLIBC__, __GLIBC_MINOR__) >= (2, 36) ? ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"] : []
    /// Returns a developer's variable. It has an effect only in a clone, not in what the package manager checks out or unpacks for another package.
    func developerVariable(_ name: String) -> String? {
        let isCheckout = Context.packageDirectory.split(separator: "/").dropLast().last == "checkouts"
        return !isCheckout && access(Context.packageDirectory + "/.git", F_OK) == 0 ? Context.environment[name] : nil
    }
#else
    let (staticCPlusPlus, packedRelocations): ([String], [String]) = ([], [])
    func developerVariable(_ name: String) -> String? { nil }
#endif

/// The settings of every target: Swift 6 mode with the upcoming features that require explicit imports and existentials.
let house = ["ExistentialAny", "InternalImportsByDefault"].map { SwiftSetting.enableUpcomingFeature($0) }
/// The settings of layers that make system calls.
let system: [SwiftSetting] = house + [.enableExperimentalFeature("Lifetimes")]
/// The settings of layers that parse untrusted bytes: every use of a pointer needs the word `unsafe`.
let pure: [SwiftSetting] = system + [.enableUpcomingFeature("MemberImportVisibility"), .strictMemorySafety()]
let swift5: [SwiftSetting] = [.swiftLanguageMode(.v5)]

/// Links the release build of the command-line tool statically with Swift's libraries: the dynamic linker had to resolve 32,000 symbols,
/// which was most of the run time of a short command. `CAUSEWAY_DEV_DYNAMIC=1` is for toolchains without static libraries.
let toolLinking = LinkerSetting.unsafeFlags(
    [
        "-static-stdlib", "-use-ld=lld", "-lFoundationInternationalization", "-lFoundationEssentials",
        "-lCoreFoundation", "-l_FoundationICU", "-l_FoundationCShims", "-l_FoundationCollections",
        "-lswiftSynchronization", "-Xlinker", "--no-export-dynamic",
        // Binds all symbols at the start, makes the table read-only, and searches no library beside the program.
        "-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now",
        "-no-toolchain-stdlib-rpath", linker("without-rpath"),
    ] + staticCPlusPlus + packedRelocations, .when(platforms: [.linux], configuration: .release))
/// Links the image decoder, a program in C, without Swift's run time, without what it never calls, and without a search path for libraries
/// beside it. Flags of a program do not reach those that link the libraries, and packages with tools of 6.2 or later may depend on such packages.
let decoderLinking = LinkerSetting.unsafeFlags(
    ["-nostartfiles", "-no-toolchain-stdlib-rpath", "-Xlinker", "--gc-sections", linker("without-swift")],
    .when(platforms: [.linux]))
func linker(_ name: String) -> String { "-ld-path=\(Context.packageDirectory)/Linking/\(name)" }

let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let heap = Target.Dependency.product(name: "HeapModule", package: "swift-collections")

/// Targets, each with what its sources import: also what it reaches through others.
typealias Rows = KeyValuePairs<String, [Target.Dependency]>

/// Parsers and state machines, with the settings `pure`. They are several modules, because the compiler makes those at the same time that
/// need nothing of each other.
let pureLayers: Rows = [
    "CausewayWire": ["CausewayTypes"], "CausewayPackets": ["CausewayTypes", "CausewayWire"],
    "CausewayMarkup": ["CCausewayLinux"],  // XML, HTML, encodings and the values of feeds.
    "CausewayImageFormats": [], "CausewayProtocols": ["CausewayTypes", "CausewayWire", deque, heap],
    "CausewayBonjourProtocols": ["CausewayTypes", "CausewayWire", deque, heap],  // Multicast DNS, link-local addresses.
    // Multipeer sessions and distributed actors: codecs, links, invitations, rosters, queues, the mesh of one peer, calls.
    "CausewayPeerProtocols": ["CausewayTypes", "CausewayWire", deque],
    // HTTP/2, HTTP above one connection, and the queue of operations that wait for a way to the server, with its journal.
    "CausewayHTTPProtocols": ["CausewayTypes", "CausewayWire", "CausewayProtocols", deque, heap],
]
/// Layers that make system calls, with the settings `system`.
let systemLayers: Rows = [
    "CausewaySystem": ["CausewayTypes", "CausewayWire", "CCausewayLinux", "CCausewayLibraries"],
    "CausewayCapture": ["CausewayPackets", "CausewaySystem"],
    "CausewayRuntime": [
        "CausewayTypes", "CausewayWire", "CausewayProtocols", "CausewayBonjourProtocols", "CausewaySystem", deque,
    ],
]
/// The layers above them.
let layers: Rows = [
    "CausewayTLS": ["CausewayTypes", "CausewayProtocols", "CausewaySystem", "CCausewayLibraries"],
    "Causeway": [
        "CausewayTypes", "CausewayWire", "CausewayProtocols", "CausewayBonjourProtocols", "CausewaySystem",
        "CausewayRuntime", "CausewayTLS", "CCausewayLibraries",
    ],
    // The HTTP engine. No product: programs use it through URLSession.
    "CausewayHTTP": [
        "CCausewayLibraries", "Causeway", "CausewayHTTPProtocols", "CausewayProtocols", "CausewayRuntime",
        "CausewaySystem", "CausewayTypes", "CausewayWire", deque,
    ],
    "CausewayHTTPServer": [
        "Causeway", "CausewayHTTPProtocols", "CausewayProtocols", "CausewayRuntime", "CausewaySystem",
        "CausewayTypes", "CausewayWire", deque,
    ],
    "CausewayStreams": ["Causeway", "CausewaySystem"],
    "CausewayLines": ["Causeway", "CausewayRuntime", "CausewayStreams", "CausewaySystem"],
    "CausewayBonjour": [
        "Causeway", "CausewayBonjourProtocols", "CausewayProtocols", "CausewayRuntime", "CausewayStreams",
        "CausewaySystem", "CausewayTypes", "CausewayWire",
    ],
    "CausewayURLLoading": [
        "CCausewayLibraries", "Causeway", "CausewayBonjour", "CausewayHTTP", "CausewayHTTPProtocols",
        "CausewayProtocols", "CausewayStreams", "CausewaySystem", "CausewayWire", deque,
    ],
    // The drop-ins. FoundationNetworking is also a module of the toolchain. A target that imports that name must depend on this one, directly
    // or not; otherwise the order of the build decides between the two modules.
    "Network": ["Causeway", "FoundationNetworking"], "FoundationNetworking": ["CausewayURLLoading"],
    "Security": ["Causeway"], "SystemConfiguration": ["Causeway", "CausewayStreams", "CausewaySystem"],
    // On URL loading: observers for logs, metrics and traces, a client of one server, a queue of operations that survive restarts, a reader of
    // feeds, a loader of images. The loader depends on the decoder program so that it is built beside each program that loads images.
    "CausewayObservability": [
        "CausewayURLLoading", .product(name: "Logging", package: "swift-log"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Tracing", package: "swift-distributed-tracing"),
    ],
    "CausewayClient": [
        "Causeway", "CausewayMarkup", "CausewaySystem", "CausewayTypes", "CausewayURLLoading", "CausewayWire", deque,
    ],
    "CausewayOffline": ["CausewayClient", "CausewayHTTPProtocols", "CausewaySystem", "CausewayURLLoading"],
    "CausewayFeeds": ["CausewayMarkup", "CausewayTypes", "CausewayURLLoading"],
    "CausewayImages": [
        "CausewayImageFormats", "CausewaySystem", "CausewayTypes", "CausewayURLLoading", "CausewayWire",
        "causeway-image-decoder",
    ],
    // Sessions of nearby peers, on the public API of `Causeway`; distributed actors on them; Apple's framework.
    "CausewayPeers": ["Causeway", "CausewayPeerProtocols", "CausewaySystem", "CausewayTLS"],
    "CausewayPeerActors": ["Causeway", "CausewayPeerProtocols", "CausewayPeers", "CausewaySystem", "CCausewayLinux"],
    "MultipeerConnectivity": [
        "Causeway", "CausewayPeers", "CausewayStreams", "CausewaySystem", "CausewayTypes", "CausewayURLLoading",
    ],
    // A virtual clock, a scripted kernel, a simulated link and repeatable random numbers; what fuzzers and benchmarks call.
    "CausewayTestKit": ["CausewayProtocols", "CausewayRuntime", "CausewaySystem", "CausewayTypes"],
    "CausewayExercises": [
        "Causeway", "CausewayBonjourProtocols", "CausewayMarkup", "CausewayHTTP", "CausewayHTTPProtocols",
        "CausewayImageFormats", "CausewayProtocols", "CausewayTestKit", "CausewayTLS", "CausewayPeerProtocols",
        "CausewayTypes", "CausewayWire",
    ],
    "CausewayMeasures": [
        "CausewayHTTP", "CausewayProtocols", "CausewayRuntime", "CausewaySystem", "CausewayTypes", "CausewayWire",
    ],
]
/// The folders of layers that are not in `Sources`.
let paths = [
    "CausewayTestKit": "Tests/CausewayTestKit", "CausewayExercises": "Fuzz/Exercises",
    "CausewayMeasures": "Benchmarks/Measures",
]
let tests: Rows = [
    "CausewayTypesTests": ["CausewayTypes"], "CausewayWireTests": ["CausewayWire"],
    "CausewaySystemTests": ["CausewaySystem"], "CausewayBonjourTests": ["CausewayBonjour"],
    "CausewayStreamsTests": ["CausewayStreams"], "CausewayPacketsTests": ["CausewayPackets", "CausewayTLS"],
    "CausewayLinesTests": ["CausewayLines"], "CausewayRuntimeTests": ["CausewayRuntime", "CausewayTestKit"],
    "CausewayProtocolsTests": ["CausewayExercises", "CausewayProtocols", "CausewayTestKit", "CausewayTypes"],
    "CausewayBonjourProtocolsTests": ["CausewayBonjourProtocols", "CausewayExercises", "CausewayTestKit"],
    "CausewayHTTPProtocolsTests": [
        "CausewayExercises", "CausewayHTTPProtocols", "CausewayProtocols", "CausewayTestKit",
    ],
    "CausewayReplayTests": ["CausewayExercises", "CausewayHTTPProtocols", "CausewayTestKit"],
    "CausewayPeerProtocolsTests": [
        "CausewayExercises", "CausewayPeerProtocols", "CausewayTestKit", "CausewayTypes", deque,
    ],
    "CausewayTLSTests": [
        "CausewayExercises", "CausewayProtocols", "CausewayTestKit", "CausewayTLS", "CausewayWire",
        "CCausewayLibraries", "CCausewayOpenSSLHeaders",
    ],
    "CausewayTests": [
        "Causeway", "CausewayProtocols", "CausewayRuntime", "CausewaySystem", "CausewayTLS", "CausewayWire", "Network",
        "Security", "SystemConfiguration",
    ],
    "CausewayHTTPTests": [
        "Causeway", "CausewayExercises", "CausewayHTTP", "CausewayHTTPProtocols", "CausewayProtocols",
        "CausewaySystem", "CausewayTestKit", "CausewayTypes", "CausewayWire",
    ],
    "CausewayHTTPServerTests": ["CausewayHTTPServer", "CausewayProtocols", "CausewaySystem", "CausewayTypes"],
    "CausewayURLLoadingTests": [
        "Causeway", "CausewayHTTP", "CausewayHTTPProtocols", "CausewayProtocols", "CausewaySystem", "CausewayTestKit",
        "CausewayURLLoading", "CausewayWire",
    ],
    "CausewayObservabilityTests": [
        "CausewayObservability", .product(name: "InMemoryLogging", package: "swift-log"),
        .product(name: "MetricsTestKit", package: "swift-metrics"),
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
    ],
    "CausewayClientTests": ["CausewayClient", "CausewaySystem", "CausewayTestKit", "CausewayURLLoading"],
    "CausewayOfflineTests": [
        "CausewayClient", "CausewayHTTPProtocols", "CausewayOffline", "CausewaySystem", "CausewayTestKit",
        "CausewayURLLoading",
    ],
    "CausewayFeedsTests": ["CausewayFeeds", "CausewayMarkup", "CausewayURLLoading"],
    "CausewayImagesTests": [
        "CausewayExercises", "CausewayImageFormats", "CausewayImages", "CausewaySystem", "CausewayTestKit",
        "CausewayURLLoading",
    ],
    "CausewayPeersTests": ["Causeway", "CausewayPeerProtocols", "CausewayPeers", "CausewayTestKit"],
    "CausewayPeerActorsTests": [
        "CausewayExercises", "CausewayPeerActors", "CausewayPeerProtocols", "CausewayPeers", "CausewayTestKit",
    ],
    "MultipeerConnectivityTests": [
        "CausewayPeers", "CausewayStreams", "CausewaySystem", "CausewayTypes", "MultipeerConnectivity",
    ],
    "LoopbackTests": [
        "Causeway", "CausewayBonjour", "CausewayClient", "CausewayHTTP", "CausewayHTTPProtocols", "CausewayHTTPServer",
        "CausewayLines", "CausewayOffline", "CausewayProtocols", "CausewayPeerActors", "CausewayPeerProtocols",
        "CausewayPeers", "CausewayRuntime", "CausewayStreams", "CausewaySystem", "CausewayTestKit", "CausewayTLS",
        "CausewayURLLoading", "CausewayWire", "MultipeerConnectivity",
    ],
    // Parts of the tool, and the tool as a program, without a peer.
    "NWTests": [
        "Causeway", "CausewayHTTP", "CausewayHTTPProtocols", "CausewayHTTPServer", "CausewayLines", "CausewayPeers",
        "CausewayProtocols", "CausewayTypes", "CausewayURLLoading", "CausewayWire", "nw",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
    ],
]
/// The libraries for programs. The packages Fuzz and Benchmarks use the last two: only targets of this package see what they exercise.
let libraries = [
    "Causeway", "Network", "Security", "SystemConfiguration", "CausewayStreams", "CausewayLines", "CausewayBonjour",
    "CausewayURLLoading", "FoundationNetworking", "CausewayObservability", "CausewayClient", "CausewayOffline",
    "CausewayHTTPServer", "CausewayFeeds", "CausewayImages", "CausewayPeers", "CausewayPeerActors",
    "MultipeerConnectivity", "CausewayPackets", "CausewayCapture", "CausewayExercises", "CausewayMeasures",
]

let package = Package(
    name: "causeway",
    products: libraries.map { Product.library(name: $0, targets: [$0]) }
        + ["causeway-image-decoder", "nw"].map { Product.executable(name: $0, targets: [$0]) },
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Only for `CausewayObservability`. Programs without that product do not build these packages.
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    ],
    targets: [
        // Calls of the C library that Swift cannot make. The image decoder links it too, so it runs without Swift's runtime.
        .target(name: "CCausewayLinux"),
        // Libraries that are loaded at run time, a folder for each use: PAC scripts, content codings, GSSAPI, OpenSSL.
        .target(name: "CCausewayLibraries", dependencies: ["CCausewayLinux"]),
        // Not `pure`: with MemberImportVisibility, `POSIXErrorCode`, which FoundationEssentials exports, would need an import of the C library.
        .target(
            name: "CausewayTypes", dependencies: ["CCausewayLinux"], swiftSettings: house + [.strictMemorySafety()]),
        .target(name: "CCausewayImages", dependencies: ["CCausewayLinux"], exclude: ["Program"]),
        .executableTarget(
            name: "causeway-image-decoder", dependencies: ["CCausewayImages"], path: "Sources/CCausewayImages/Program",
            linkerSettings: [decoderLinking]),
        // The first program of a newcomer. It depends on `Causeway` alone, so that it is built soon.
        .executableTarget(name: "tour", dependencies: ["Causeway"], path: "Examples/tour", swiftSettings: house),
        .executableTarget(
            name: "nw",
            dependencies: [
                "Causeway", "CausewayCapture", "CausewayClient", "CausewayFeeds", "CausewayHTTP",
                "CausewayHTTPProtocols", "CausewayHTTPServer", "CausewayLines", "CausewayPackets", "CCausewayImages",
                "CausewayImageFormats", "CausewayImages", "CausewayPeers", "MultipeerConnectivity", "CausewayProtocols",
                "CausewayRuntime", "CausewaySystem", "CausewayTLS", "CausewayTypes", "CausewayURLLoading",
                "CausewayWire", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ], swiftSettings: house,
            linkerSettings: developerVariable("CAUSEWAY_DEV_DYNAMIC") == nil ? [toolLinking] : []),
        .target(name: "CCausewayOpenSSLHeaders", path: "Tests/CCausewayOpenSSLHeaders"),
        // Programs as written for Apple's modules, in both language modes and without the settings above.
        .testTarget(name: "ProgramTests", dependencies: ["Network"]),
        .testTarget(name: "ProgramSwift5Tests", dependencies: ["Network"], swiftSettings: swift5),
        .testTarget(name: "MultipeerProgramTests", dependencies: ["MultipeerConnectivity"]),
        .testTarget(name: "MultipeerSwift5Tests", dependencies: ["MultipeerConnectivity"], swiftSettings: swift5),
        .testTarget(name: "URLLoadingProgramTests", dependencies: ["CausewayURLLoading"]),
        .testTarget(name: "URLLoadingSwift5Tests", dependencies: ["CausewayURLLoading"], swiftSettings: swift5),
        .testTarget(name: "FoundationNetworkingTests", dependencies: ["Causeway", "FoundationNetworking"]),
        .testTarget(
            name: "FoundationNetworkingSwift5Tests", dependencies: ["Causeway", "FoundationNetworking"],
            swiftSettings: swift5),
    ],
    swiftLanguageModes: [.v6]
)
for (rows, settings) in [(pureLayers, pure), (systemLayers, system), (layers, house)] {
    package.targets += rows.map { Target.target(name: $0, dependencies: $1, path: paths[$0], swiftSettings: settings) }
}
package.targets += tests.map { Target.testTarget(name: $0, dependencies: $1, swiftSettings: house) }

// `Scripts/make-overlay` builds one library of all that the module FoundationNetworking needs.
if developerVariable("CAUSEWAY_DEV_OVERLAY") != nil {
    package.products.append(.library(name: "CausewayOverlay", type: .dynamic, targets: ["FoundationNetworking"]))
}

// `CAUSEWAY_DEV_STORMS=1` leaves only the storms in `LoopbackTests`, and what they need: sanitizers make compilation slow.
if developerVariable("CAUSEWAY_DEV_STORMS") != nil {
    let http = ["ScriptedServer", "ScriptedRequest", "URLSessionSupport", "URLSessionTests"].map { "HTTP/\($0).swift" }
    package.targets.first { $0.name == "LoopbackTests" }?.sources = ["Loopback.swift", "Stress", "Support"] + http
}

// `CAUSEWAY_DEV_TESTS=LoopbackTests` (or several, with commas) builds only these tests and what they need: sanitizer builds run one suite.
if let wanted = developerVariable("CAUSEWAY_DEV_TESTS") {
    var needed: Set<String> = []
    var reached = wanted.split(separator: ",").map(String.init)
    while let name = reached.popLast() {
        let found = package.targets.first { $0.name == name }
        guard needed.insert(name).inserted, let target = found else { continue }
        for case .byNameItem(let dependency, _) in target.dependencies { reached.append(dependency) }
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products.removeAll { !needed.contains($0.name) }
}
