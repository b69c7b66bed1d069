// swift-tools-version: 6.0
import PackageDescription

// A package that uses no API specific to Causeway. Scripts/check-overlay builds and tests it with an overlay.
let package = Package(
    name: "weather",
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .target(name: "Weather"),
        .executableTarget(name: "weather-report", dependencies: ["Weather"]),
        .testTarget(
            name: "WeatherTests",
            dependencies: [
                "Weather", .product(name: "HTTPTypesFoundation", package: "swift-http-types"),
                .product(name: "OpenCombineFoundation", package: "OpenCombine"),
            ]),
    ]
)
