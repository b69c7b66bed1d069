// swift-tools-version: 6.2
import PackageDescription

/// One executable for each example. `Causeway` is all that they need. Sources of Apple platforms use `import Network`, which also builds URL
/// loading, streams and `NetService`.
let examples = [
    "EchoServer", "EchoClient", "DatagramPingPong", "SlowReader", "HeaderThenBody", "LineFramer", "TLVGame",
    "MulticastChat", "StructuredEchoServer", "StructuredEchoClient", "TLSClient", "JSONMessages", "TypedMessages",
    "WebSocketClient", "StructuredDatagrams", "ManyClients", "CancelledReceive", "Deadline", "Migration",
    "ServiceByName", "LiveBrowser", "Camera",
]
/// The examples of URL loading, which is part of Foundation on Apple platforms.
let loading = ["HTTPGet", "PostJSON", "PostForm", "StreamedLines", "UploadProgress", "DownloadFile"]
/// The examples that use NetService, which is part of Foundation on Apple platforms.
let services = ["NetServicePublisher", "SavedService"]

/// What an example with distributed actors needs.
let actors: [Target.Dependency] = [
    .product(name: "CausewayPeerActors", package: "causeway"), .product(name: "CausewayPeers", package: "causeway"),
]
/// What an HTTP server needs.
let server: [Target.Dependency] = [
    .product(name: "Causeway", package: "causeway"), .product(name: "CausewayHTTPServer", package: "causeway"),
]

let package = Package(
    name: "examples",
    // The tests of the package Interop run this one.
    products: [.executable(name: "PeerChat", targets: ["PeerChat"])],
    dependencies: [.package(name: "causeway", path: "..")],
    targets: examples.map { example in
        .executableTarget(
            name: example, dependencies: [.product(name: "Causeway", package: "causeway")], path: example)
    }
        + services.map { example in
            .executableTarget(
                name: example,
                dependencies: [
                    .product(name: "Network", package: "causeway"),
                    .product(name: "CausewayBonjour", package: "causeway"),
                ], path: example)
        }
        + loading.map { example in
            .executableTarget(
                name: example, dependencies: [.product(name: "CausewayURLLoading", package: "causeway")], path: example)
        } + [
            .executableTarget(
                name: "TypedClient", dependencies: [.product(name: "CausewayClient", package: "causeway")],
                path: "TypedClient"),
            .executableTarget(
                name: "MultipeerChat", dependencies: [.product(name: "MultipeerConnectivity", package: "causeway")],
                path: "MultipeerChat"),
            .executableTarget(
                name: "PeerChat", dependencies: [.product(name: "CausewayPeers", package: "causeway")], path: "PeerChat"
            ),
            .executableTarget(
                name: "SharedCounter", dependencies: actors,
                path: "SharedCounter"),
            .executableTarget(
                name: "Nim", dependencies: actors, path: "Nim"),
            .executableTarget(
                name: "FeedFollower", dependencies: [.product(name: "CausewayFeeds", package: "causeway")],
                path: "FeedFollower"),
            .executableTarget(
                name: "ImageList", dependencies: [.product(name: "CausewayImages", package: "causeway")],
                path: "ImageList"),
            .executableTarget(
                name: "CachedImages", dependencies: [.product(name: "CausewayImages", package: "causeway")],
                path: "CachedImages"),
            .executableTarget(
                name: "OfflineQueue",
                dependencies: [
                    .product(name: "CausewayClient", package: "causeway"),
                    .product(name: "CausewayOffline", package: "causeway"),
                ], path: "OfflineQueue"),
            .executableTarget(name: "HTTPHello", dependencies: server, path: "HTTPHello"),
            .executableTarget(name: "ServerMiddleware", dependencies: server, path: "ServerMiddleware"),
            // Does not use the drop-in module, because that module exports Foundation.
            .executableTarget(
                name: "SmallClient", dependencies: [.product(name: "Causeway", package: "causeway")],
                path: "SmallClient"),
        ],
    swiftLanguageModes: [.v6]
)
