/// Settings for validating a peer's certificates: the trust anchors, the pinned keys, the exceptions and the validation
/// time. The anchors are used in addition to the system's authorities, or instead of them.
package struct TrustSettings: Hashable, Sendable {
    /// A certificate that is accepted from one host without validation, for example a device's self-signed certificate.
    package struct Exception: Hashable, Sendable {
        package let host: ReferenceName
        /// The ``Certificate/fingerprint`` of the host's own certificate, not of an authority.
        package let fingerprint: [UInt8]

        package init(host: ReferenceName, fingerprint: [UInt8]) {
            self.host = host
            self.fingerprint = fingerprint
        }
    }

    /// Certificates to trust: authorities, or peers' own certificates.
    package var anchors: [Certificate] = []
    /// Whether to trust the system's authorities too. With `false` and no anchors, no peer is trusted.
    package var includesSystemAnchors = true
    /// If not empty, a valid chain must also contain a key whose ``Certificate/publicKeyPin`` is in this set.
    package var pins: Set<[UInt8]> = []
    package var exceptions: Set<Exception> = []
    /// The validation time in seconds since 1970; `nil` for the current time.
    package var time: Int64?

    package init() {}
}
