public import FoundationEssentials

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

        /// Unpacks the object form.
        ///
        /// Counterpart: macOS 14, iOS 17.
        public init(nw: nw_content_context_t) {
            arrival = nil
            let context = nw.context
            super.init(
                identifier: context.identifier, expiration: context.expirationMilliseconds,
                priority: context.relativePriority, isFinal: context.isFinal, antecedent: context.antecedent,
                metadata: context.protocolMetadata)
        }

        /// Answers the sender of a received message. Without effect on a message to send, and while groups are not
        /// implemented.
        public func reply(content: Data?, message: NWConnectionGroup.Message = .default) {}

        /// Makes the sender's flow a connection of its own. `nil` for a message to send, and while groups are not
        /// implemented.
        public func extractConnection() -> NWConnection? { nil }
    }
}

/// A ``NWConnection/ContentContext`` as an object of Apple's C interface. No function here makes one.
public final class OS_nw_content_context: Sendable {
    package let context: NWConnection.ContentContext

    package init(context: NWConnection.ContentContext) {
        self.context = context
    }
}

/// The name by which programs refer to a context object.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias nw_content_context_t = OS_nw_content_context
