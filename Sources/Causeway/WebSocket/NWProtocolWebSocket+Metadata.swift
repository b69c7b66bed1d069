internal import CausewaySystem
public import Dispatch

extension NWProtocolWebSocket {
    /// What kind of message it is. Attach one to a ``NWConnection/ContentContext`` to send.
    ///
    /// ```swift
    /// let metadata = NWProtocolWebSocket.Metadata(opcode: .text)
    /// let context = NWConnection.ContentContext(identifier: "greeting", metadata: [metadata])
    /// ```
    ///
    /// The metadata of a connection tells what the handshake agreed on.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only mutable state is behind a lock.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        /// Told that the answer to a ping came, or why not.
        package typealias PongHandler = @Sendable (NWError?) -> Void

        /// What a handshake agreed on.
        package struct Handshake: Sendable {
            package var subprotocol: String?
            package var serverHeaders: [(String, String)]?

            package init(subprotocol: String? = nil, serverHeaders: [(String, String)]? = nil) {
                self.subprotocol = subprotocol
                self.serverHeaders = serverHeaders
            }
        }

        private struct Values: Sendable {
            var closeCode: CloseCode
            var pongHandler: PongHandler?
            var pongQueue: DispatchQueue?
            var pongToken: UInt64?
        }

        /// The kind of the message.
        public let opcode: NWProtocolWebSocket.Opcode
        private let handshake: Handshake
        private let storage: LockedValue<Values>

        /// Describes a message to send.
        public convenience init(opcode: NWProtocolWebSocket.Opcode) {
            self.init(opcode: opcode, closeCode: .protocolCode(.normalClosure), handshake: Handshake())
        }

        package init(opcode: Opcode, closeCode: CloseCode, handshake: Handshake) {
            self.opcode = opcode
            self.handshake = handshake
            storage = LockedValue(Values(closeCode: closeCode))
            super.init(definition: NWProtocolWebSocket.definition)
        }

        /// Why the conversation ends, on a message of the kind `.close`. Default normal closure.
        public var closeCode: NWProtocolWebSocket.CloseCode {
            get { storage.withLock { $0.closeCode } }
            set { storage.withLock { $0.closeCode = newValue } }
        }

        /// Sets what is called when the answer to a ping comes, or when it never will. It is called once.
        @preconcurrency public func setPongHandler(
            _ queue: DispatchQueue, handler: @escaping @Sendable (NWError?) -> Void
        ) {
            let old = storage.withLock { values in
                defer {
                    values.pongHandler = handler
                    values.pongQueue = queue
                }
                return values.pongHandler
            }
            withExtendedLifetime(old) {}
        }

        /// Takes what ``setPongHandler(_:handler:)`` has set, so that it is called once.
        package func takePongHandler() -> (queue: DispatchQueue, handler: PongHandler)? {
            storage.withLock { values in
                guard let queue = values.pongQueue, let handler = values.pongHandler.take() else { return nil }
                return (queue, handler)
            }
        }

        /// The number under which the pong of a ping is awaited; `nil` if nobody waits. Parts of one message share it.
        package func pongToken() -> UInt64? {
            guard let (queue, handler) = takePongHandler() else { return storage.withLock { $0.pongToken } }
            let token = PongWaiters.shared.add(queue, handler)
            storage.withLock { $0.pongToken = token }
            return token
        }

        /// The subprotocol that the server chose; `nil` for none.
        public var selectedSubprotocol: String? { handshake.subprotocol }

        /// The header fields of the server's answer that are not the protocol's own.
        public var additionalServerHeaders: [(String, String)]? { handshake.serverHeaders }
    }
}
