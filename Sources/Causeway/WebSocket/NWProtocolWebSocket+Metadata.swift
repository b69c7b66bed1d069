internal import CausewaySystem
public import Dispatch

extension NWProtocolWebSocket {
    /// Describes one WebSocket message. To send a message, attach its metadata to a ``NWConnection/ContentContext``.
    ///
    /// ```swift
    /// let metadata = NWProtocolWebSocket.Metadata(opcode: .text)
    /// let context = NWConnection.ContentContext(identifier: "greeting", metadata: [metadata])
    /// ```
    ///
    /// The metadata object of a connection contains the handshake result. All members may be used from any thread.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: a lock protects the only mutable state.
    public final class Metadata: NWProtocolMetadata, @unchecked Sendable {
        /// Called with `nil` when the pong has arrived, or with an error when the pong can no longer arrive.
        package typealias PongHandler = @Sendable (NWError?) -> Void

        /// A handshake result.
        package struct Handshake: Sendable {
            package var subprotocol: String?
            package var serverHeaders: [(String, String)]?
            package var usesCompression = false

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

        /// The type of the message.
        public let opcode: NWProtocolWebSocket.Opcode
        private let handshake: Handshake
        private let storage: LockedValue<Values>

        /// Creates metadata for a message to send.
        public convenience init(opcode: NWProtocolWebSocket.Opcode) {
            self.init(opcode: opcode, closeCode: .protocolCode(.normalClosure), handshake: Handshake())
        }

        package init(opcode: Opcode, closeCode: CloseCode, handshake: Handshake) {
            self.opcode = opcode
            self.handshake = handshake
            storage = LockedValue(Values(closeCode: closeCode))
            super.init(definition: NWProtocolWebSocket.definition)
        }

        /// The reason for closing the connection, on a `.close` message (RFC 6455 §7.4). Default: normal closure.
        public var closeCode: NWProtocolWebSocket.CloseCode {
            get { storage.withLock { $0.closeCode } }
            set { storage.withLock { $0.closeCode = newValue } }
        }

        /// Sets the handler for a ping's pong.
        ///
        /// - Parameters:
        ///   - queue: The queue on which the handler runs.
        ///   - handler: Called once, with `nil` when the pong arrives, or with an error if the connection ends first.
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

        /// Removes and returns the handler set with ``setPongHandler(_:handler:)``, so that it is called only once.
        package func takePongHandler() -> (queue: DispatchQueue, handler: PongHandler)? {
            storage.withLock { values in
                guard let queue = values.pongQueue, let handler = values.pongHandler.take() else { return nil }
                return (queue, handler)
            }
        }

        /// Registers the pong handler and returns the ping's identifier; `nil` for a message without a pong handler. All parts of one
        /// message share the identifier.
        package func pongToken() -> UInt64? {
            guard let (queue, handler) = takePongHandler() else { return storage.withLock { $0.pongToken } }
            let token = PongWaiters.shared.add(queue, handler)
            storage.withLock { $0.pongToken = token }
            return token
        }

        /// The subprotocol chosen by the server; `nil` for none (RFC 6455 §4.1).
        public var selectedSubprotocol: String? { handshake.subprotocol }

        /// Whether the peers agreed to compress messages; see ``NWProtocolWebSocket/Options/compression``.
        ///
        /// Counterpart: none.
        public var usesCompression: Bool { handshake.usesCompression }

        /// The server response's header fields, without those of the handshake. `nil` on the server.
        public var additionalServerHeaders: [(String, String)]? { handshake.serverHeaders }
    }
}
