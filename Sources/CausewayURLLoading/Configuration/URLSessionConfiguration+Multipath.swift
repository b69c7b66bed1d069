extension URLSessionConfiguration {
    /// How a connection uses Multipath TCP (RFC 8684).
    ///
    /// Counterpart: iOS 11.
    public enum MultipathServiceType: Int, Sendable {
        /// Multipath TCP is not used.
        case none = 0
        /// A second path is used if the first path fails.
        case handover = 1
        /// The path with the lowest delay is used.
        case interactive = 2
        /// All paths are used together.
        case aggregate = 3
    }
}
