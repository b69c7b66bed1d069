/// Whom to trust besides, or instead of, the authorities of this system.
package struct TrustSettings: Hashable, Sendable {
    /// One certificate that is accepted from one host whatever is wrong with it: a device that signed its own, for example.
    package struct Exception: Hashable, Sendable {
        package let host: ReferenceName
        /// ``Certificate/fingerprint`` of the peer's own certificate.
        package let fingerprint: [UInt8]

        package init(host: ReferenceName, fingerprint: [UInt8]) {
            self.host = host
            self.fingerprint = fingerprint
        }
    }

    /// Certificates to trust: authorities, or a peer's own.
    package var anchors: [Certificate] = []
    /// Whether the authorities of this system are trusted as well. With `false` and no anchors nobody is trusted.
    package var includesSystemAnchors = true
    /// If not empty, a chain must hold a key whose ``Certificate/publicKeyPin`` is here, after everything else was checked.
    package var pins: Set<[UInt8]> = []
    package var exceptions: Set<Exception> = []
    /// The time to judge by, in seconds since 1970; `nil` for now.
    package var time: Int64?

    package init() {}
}
