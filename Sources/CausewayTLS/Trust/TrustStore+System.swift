internal import FoundationEssentials

extension TrustStore {
    /// Returns the certificates of the system's authorities in DER. Reads files, which takes milliseconds.
    package static func systemAnchors() -> [[UInt8]] {
        SystemAnchorPlaces(environment: ProcessInfo.processInfo.environment).read()
    }
}
