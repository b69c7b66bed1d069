internal import FoundationEssentials

extension TrustStore {
    /// Returns the system authorities' certificates in DER. Reads files, which takes milliseconds.
    package static func systemAnchors() -> [[UInt8]] {
        SystemAnchorPlaces(environment: ProcessInfo.processInfo.environment).read()
    }
}
