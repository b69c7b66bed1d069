extension NWConnectionGroup {
    /// A message to or from a group.
    ///
    /// Counterpart: macOS 11, iOS 14.
    // SAFETY: all stored properties added here are immutable and `Sendable`.
    public final class Message: NWConnection.ContentContext, @unchecked Sendable {
        private let arrival: Arrival?

        /// Where a received message came from, and how.
        private struct Arrival: Sendable {
            var remoteEndpoint: NWEndpoint
            var localEndpoint: NWEndpoint?
            var path: NWPath?
        }

        /// An ordinary message to send.
        public static let `default` = NWConnectionGroup.Message(identifier: "default group message")

        /// Describes a message to send. The parameters are those of ``NWConnection/ContentContext``.
        public override init(
            identifier: String, expiration: UInt64 = 0, priority: Double = 0.5, isFinal: Bool = false,
            antecedent: NWConnection.ContentContext? = nil, metadata: [NWProtocolMetadata]? = []
        ) {
            arrival = nil
            super.init(
                identifier: identifier, expiration: expiration, priority: priority, isFinal: isFinal,
                antecedent: antecedent, metadata: metadata)
        }

        /// Describes a received message.
        package init(
            from remoteEndpoint: NWEndpoint, to localEndpoint: NWEndpoint?, path: NWPath?,
            metadata: [NWProtocolMetadata] = []
        ) {
            arrival = Arrival(remoteEndpoint: remoteEndpoint, localEndpoint: localEndpoint, path: path)
            super.init(identifier: "group message", metadata: metadata)
        }

        /// Who sent a received message; `nil` for one to send.
        public var remoteEndpoint: NWEndpoint? { arrival?.remoteEndpoint }

        /// Where a received message was sent to; `nil` for one to send.
        public var localEndpoint: NWEndpoint? { arrival?.localEndpoint }

        /// The path that a received message took; `nil` for one to send.
        public var path: NWPath? { arrival?.path }

        /// The metadata of one protocol, or `nil` if there is none.
        ///
        /// Counterpart: macOS 12, iOS 15.
        public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? {
            protocolMetadata(definition: definition)
        }
    }
}
