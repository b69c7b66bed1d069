internal import CausewaySystem
public import Dispatch

extension NWProtocolWebSocket {
    /// Configures WebSocket for a connection or a listener. Insert the options at the top of the protocol stack.
    ///
    /// ```swift
    /// let parameters = NWParameters.tcp
    /// parameters.defaultProtocolStack.applicationProtocols.insert(NWProtocolWebSocket.Options(), at: 0)
    /// ```
    ///
    /// WebSocket needs a stream: a connection with WebSocket over UDP fails with `.posix(.ENOTSUP)`.
    ///
    /// All members may be used from any thread.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: a lock protects the only mutable state.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// A closure that returns the response to a client's request. The arguments are the offered subprotocols and the header fields.
        package typealias ClientRequestHandler =
            @Sendable (_ subprotocols: [String], _ additionalHeaders: [(name: String, value: String)]) -> Response

        /// A snapshot of all option values.
        package struct Values: Sendable {
            package var autoReplyPing = false
            package var maximumMessageSize = 0
            package var skipHandshake = false
            package var compression: Compression?
            package var additionalHeaders: [(name: String, value: String)] = []
            package var subprotocols: [String] = []
            package var clientRequestHandler: ClientRequestHandler?
            package var clientRequestQueue: DispatchQueue?

            package init() {}
        }

        /// The protocol version. There is only one version.
        package let version: NWProtocolWebSocket.Version
        private let storage: LockedValue<Values>

        /// Creates options with default values.
        public convenience init(_ version: NWProtocolWebSocket.Version = .version13) {
            self.init(version, values: Values())
        }

        package init(_ version: NWProtocolWebSocket.Version, values: Values) {
            self.version = version
            storage = LockedValue(values)
            super.init(definition: NWProtocolWebSocket.definition)
        }

        package var values: Values { storage.withLock { $0 } }

        package override func copyOptions() -> NWProtocolOptions { Options(version, values: values) }

        private func update(_ body: (inout sending Values) -> Void) {
            let old = storage.withLock { values in
                let old = values
                body(&values)
                return old
            }
            withExtendedLifetime(old) {}
        }

        /// Whether the connection answers pings itself and does not deliver them to the program (default: `false`).
        ///
        /// If `true`, each ping gets one pong, in order. If more than 64 KiB of pongs wait to be sent, the oldest pongs
        /// are dropped. If `false`, the program receives each ping as a `.ping` message and must answer it. A ping can
        /// arrive between two parts of another message.
        public var autoReplyPing: Bool {
            get { values.autoReplyPing }
            set { update { $0.autoReplyPing = newValue } }
        }

        /// Maximum size of a received message, in bytes (default: 0, no limit).
        public var maximumMessageSize: Int {
            get { values.maximumMessageSize }
            set { update { $0.maximumMessageSize = newValue } }
        }

        /// Whether the connection sends WebSocket frames at once, without the HTTP handshake from RFC 6455 §4. The
        /// default is `false`.
        public var skipHandshake: Bool {
            get { values.skipHandshake }
            set { update { $0.skipHandshake = newValue } }
        }

        /// Message compression (default: `nil`, none). Also set ``maximumMessageSize``, which limits the decompressed
        /// size, because a message can expand 1,000-fold. With ``skipHandshake`` nothing is compressed, because
        /// compression is negotiated in the handshake.
        ///
        /// Counterpart: none.
        public var compression: NWProtocolWebSocket.Compression? {
            get { values.compression }
            set { update { $0.compression = newValue } }
        }

        /// Sets header fields of the client's request. Each call replaces the fields of the previous call.
        ///
        /// If several fields have the same name, ignoring case, only the final field with this name is used.
        public func setAdditionalHeaders(_ headers: [(name: String, value: String)]) {
            let unique = headers.enumerated().filter { position, header in
                !headers[(position + 1)...].contains { $0.name.lowercased() == header.name.lowercased() }
            }.map(\.element)
            update { $0.additionalHeaders = unique }
        }

        /// Sets the subprotocols for a client to offer, most preferred first.
        public func setSubprotocols(_ subprotocols: [String]) {
            update { $0.subprotocols = subprotocols }
        }

        /// Sets the handler for client handshake requests. Without a handler, a server accepts each valid request.
        ///
        /// - Parameters:
        ///   - queue: The queue on which the handler runs.
        ///   - handler: Receives the offered subprotocols and the header fields, and returns the response.
        @preconcurrency public func setClientRequestHandler(
            _ queue: DispatchQueue,
            handler:
                @escaping @Sendable (_ subprotocols: [String], _ additionalHeaders: [(name: String, value: String)]) ->
                NWProtocolWebSocket.Response
        ) {
            update { values in
                values.clientRequestHandler = handler
                values.clientRequestQueue = queue
            }
        }
    }
}
