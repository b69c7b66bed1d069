extension URLSessionConfiguration {
    /// How a connection uses Multipath TCP (RFC 8684).
    ///
    /// Counterpart: iOS 11.
    public enum MultipathServiceType: Int, Sendable {
        /// Multipath TCP is not used.
        case none = 0
        /// If the first path fails, the connection uses a second path.
        case handover = 1
        /// The path with the lowest delay is used.
        case interactive = 2
        /// The connection uses all paths together.
        case aggregate = 3
    }
}
