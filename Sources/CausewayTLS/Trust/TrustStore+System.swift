internal import FoundationEssentials

extension TrustStore {
    /// The certificates of this system's authorities in DER. Reads them from the disk, which takes milliseconds.
    package static func systemAnchors() -> [[UInt8]] {
        SystemAnchorPlaces(environment: ProcessInfo.processInfo.environment).read()
    }
}
