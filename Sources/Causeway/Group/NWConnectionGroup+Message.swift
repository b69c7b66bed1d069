package import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import FoundationEssentials

extension NWConnectionGroup {
    /// A message that a group sends or has received.
    ///
    /// The class adds a received message's endpoints and path to ``NWConnection/ContentContext``.
    ///
    /// Counterpart: macOS 11, iOS 14.
    // SAFETY: all stored properties added here are immutable and `Sendable`.
    public final class Message: NWConnection.ContentContext, @unchecked Sendable {
        private let arrival: Arrival?

        /// A received message's datagram and group.
        private final class Arrival: Sendable {
            let datagram: GroupDatagram
            let group: NWConnectionGroup
            /// `true` until the program replies to the message. Only the first reply is sent.
            let mayReply = LockedValue(true)

            init(_ datagram: GroupDatagram, _ group: NWConnectionGroup) {
                self.datagram = datagram
                self.group = group
            }
        }

        /// The default content context for a message to send.
        public static let `default` = NWConnectionGroup.Message(sharedAs: "default group message")

        /// Creates the content context for a message to send.
        ///
        /// - Parameters:
        ///   - identifier: A name that logs show.
        ///   - expiration: Time limit in milliseconds. The message is dropped if sending has not started by then. 0
        ///     means no limit.
        ///   - priority: From 0.0 to 1.0. Messages with a higher priority are sent first.
        ///   - isFinal: Changes nothing, because a connection group has no end of stream.
        ///   - antecedent: The message to send before this message.
        ///   - metadata: Metadata for the protocols. If several objects belong to one protocol, only the final object
        ///     is used.
        public override init(
            identifier: String, expiration: UInt64 = 0, priority: Double = 0.5, isFinal: Bool = false,
            antecedent: NWConnection.ContentContext? = nil, metadata: [NWProtocolMetadata]? = []
        ) {
            arrival = nil
            super.init(
                identifier: identifier, expiration: expiration, priority: priority, isFinal: isFinal,
                antecedent: antecedent, metadata: metadata)
        }

        /// Creates the content context for a received message.
        package init(_ datagram: GroupDatagram, of group: NWConnectionGroup) {
            arrival = Arrival(datagram, group)
            super.init(shared: "group message", isFinal: false, header: DatagramHeader(datagram.mark))
        }

        private init(sharedAs identifier: String) {
            arrival = nil
            super.init(shared: identifier, isFinal: false)
        }

        /// A received message's sender; `nil` for a message to send.
        public var remoteEndpoint: NWEndpoint? { arrival.map { NWEndpoint($0.datagram.peer) } }

        /// A received message's destination: the group, or one of this host's addresses. `nil` for a message to send.
        public var localEndpoint: NWEndpoint? { arrival?.datagram.destination.map { NWEndpoint($0) } }

        /// A received message's path, determined at each access; `nil` for a message to send.
        public var path: NWPath? {
            guard let datagram = arrival?.datagram else { return nil }
            return NWPath(
                local: datagram.destination, remote: datagram.peer, endpoint: NWEndpoint(datagram.peer),
                interface: NWInterface(index: datagram.interfaceIndex))
        }

        /// Returns the metadata for one protocol, or `nil` if there is none.
        ///
        /// Counterpart: macOS 12, iOS 15.
        public func metadata(definition: NWProtocolDefinition) -> NWProtocolMetadata? {
            protocolMetadata(definition: definition)
        }

        /// Creates a content context for a message to send, with the properties of an existing content context.
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

        /// Replies to the sender of a received message, from the group's port. Only the first reply is sent.
        ///
        /// If the message was sent to one of this host's addresses, the reply comes from that address. On a message to send, the method has
        /// no effect. Errors are not reported.
        public func reply(content: Data?, message: NWConnectionGroup.Message = .default) {
            guard let arrival, arrival.mayReply.withLock({ $0.take() }) else { return }
            arrival.group.answer(arrival.datagram, content, message)
        }

        /// Creates a connection to the sender of a received message, over the group's port. The connection is not started.
        ///
        /// After this call, the connection instead of the group receives the sender's datagrams. Returns `nil` for a message to send, and
        /// if there already is a connection to the sender.
        public func extractConnection() -> NWConnection? { NWConnection(message: self) }

        func extract() -> NWConnectionGroup.Extracted? { arrival.flatMap { $0.group.extracted($0.datagram) } }
    }
}

extension Bool {
    /// Sets the variable to `false`, and returns its previous value.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
    }
}

/// A ``NWConnection/ContentContext`` as an object, as in Apple's C interface. Only
/// ``NWConnectionGroup/Message/init(nw:)`` uses this type. Programs cannot create such an object, because Causeway does
/// not have the C functions for it.
///
/// Counterpart: macOS 10.14, iOS 12.
public final class OS_nw_content_context: Sendable {
    package let context: NWConnection.ContentContext

    package init(context: NWConnection.ContentContext) {
        self.context = context
    }
}

/// The C name of a content context object.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias nw_content_context_t = OS_nw_content_context
