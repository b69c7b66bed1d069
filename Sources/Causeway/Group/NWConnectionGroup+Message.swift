package import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import FoundationEssentials

extension NWConnectionGroup {
    /// A message to or from a group.
    ///
    /// Counterpart: macOS 11, iOS 14.
    // SAFETY: all stored properties added here are immutable and `Sendable`.
    public final class Message: NWConnection.ContentContext, @unchecked Sendable {
        private let arrival: Arrival?

        /// Where a received message came from, and how.
        private final class Arrival: Sendable {
            let datagram: GroupDatagram
            let group: NWConnectionGroup
            /// Whether it may still be answered.
            let mayReply = LockedValue(true)

            init(_ datagram: GroupDatagram, _ group: NWConnectionGroup) {
                self.datagram = datagram
                self.group = group
            }
        }

        /// An ordinary message to send.
        public static let `default` = NWConnectionGroup.Message(sharedAs: "default group message")

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
        package init(_ datagram: GroupDatagram, of group: NWConnectionGroup) {
            arrival = Arrival(datagram, group)
            super.init(shared: "group message", isFinal: false, header: DatagramHeader(datagram.mark))
        }

        private init(sharedAs identifier: String) {
            arrival = nil
            super.init(shared: identifier, isFinal: false)
        }

        /// Who sent a received message; `nil` for one to send.
        public var remoteEndpoint: NWEndpoint? { arrival.map { NWEndpoint($0.datagram.peer) } }

        /// Where a received message was sent to, the group or this host; `nil` for one to send.
        public var localEndpoint: NWEndpoint? { arrival?.datagram.destination.map { NWEndpoint($0) } }

        /// The path that a received message took; `nil` for one to send. It is looked up when it is asked for.
        public var path: NWPath? {
            guard let datagram = arrival?.datagram else { return nil }
            return NWPath(
                local: datagram.destination, remote: datagram.peer, endpoint: NWEndpoint(datagram.peer),
                interface: NWInterface(index: datagram.interfaceIndex))
        }

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

        /// Answers the sender of a received message, from the group's port, once. Without effect on a message to send, and on one
        /// that was answered.
        ///
        /// An answer to what was sent to this host comes from the address that it was sent to.
        public func reply(content: Data?, message: NWConnectionGroup.Message = .default) {
            guard let arrival, arrival.mayReply.withLock({ $0.take() }) else { return }
            arrival.group.answer(arrival.datagram, content, message)
        }

        /// Makes the sender of a received message a connection of its own, not started, over the group's port: from now on what it
        /// sends goes there. `nil` for a message to send, and for a sender that is a connection already.
        public func extractConnection() -> NWConnection? { NWConnection(message: self) }

        func extract() -> NWConnectionGroup.Extracted? { arrival.flatMap { $0.group.extracted($0.datagram) } }
    }
}

extension Bool {
    /// What it was; `false` afterwards.
    fileprivate mutating func take() -> Bool {
        defer { self = false }
        return self
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
