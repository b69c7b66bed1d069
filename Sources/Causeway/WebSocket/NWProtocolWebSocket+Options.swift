internal import CausewaySystem
public import Dispatch

extension NWProtocolWebSocket {
    /// How a connection uses WebSocket. Its place in a stack is at the top.
    ///
    /// ```swift
    /// let parameters = NWParameters.tcp
    /// parameters.defaultProtocolStack.applicationProtocols.insert(NWProtocolWebSocket.Options(), at: 0)
    /// ```
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    // SAFETY: the only mutable state is behind a lock.
    public final class Options: NWProtocolOptions, @unchecked Sendable {
        /// Answers a client's request: the offered subprotocols and the header fields.
        package typealias ClientRequestHandler =
            @Sendable (_ subprotocols: [String], _ additionalHeaders: [(name: String, value: String)]) -> Response

        /// All values at one moment.
        package struct Values: Sendable {
            package var autoReplyPing = false
            package var maximumMessageSize = 0
            package var skipHandshake = false
            package var additionalHeaders: [(name: String, value: String)] = []
            package var subprotocols: [String] = []
            package var clientRequestHandler: ClientRequestHandler?
            package var clientRequestQueue: DispatchQueue?

            package init() {}
        }

        /// Which version to speak. There is one.
        package let version: NWProtocolWebSocket.Version
        private let storage: LockedValue<Values>

        /// Makes options with every default.
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

        /// Whether pings are answered without the program, which then does not see them. Each gets one pong, in order, while at
        /// most 64 KiB of pongs wait. Default `false`: the program answers each message of the kind `.ping`, which may come between two
        /// parts of another message.
        public var autoReplyPing: Bool {
            get { values.autoReplyPing }
            set { update { $0.autoReplyPing = newValue } }
        }

        /// The most bytes of one received message. 0, the default, is no limit.
        public var maximumMessageSize: Int {
            get { values.maximumMessageSize }
            set { update { $0.maximumMessageSize = newValue } }
        }

        /// Whether frames begin without an HTTP request before. Default `false`.
        public var skipHandshake: Bool {
            get { values.skipHandshake }
            set { update { $0.skipHandshake = newValue } }
        }

        /// Sets header fields of the client's request. Of several with one name the last counts; names compare without
        /// regard to case. Each call replaces those of the one before.
        public func setAdditionalHeaders(_ headers: [(name: String, value: String)]) {
            let unique = headers.enumerated().filter { position, header in
                !headers[(position + 1)...].contains { $0.name.lowercased() == header.name.lowercased() }
            }.map(\.element)
            update { $0.additionalHeaders = unique }
        }

        /// Sets the subprotocols that a client offers, best first.
        public func setSubprotocols(_ subprotocols: [String]) {
            update { $0.subprotocols = subprotocols }
        }

        /// Sets what answers the requests of clients. Without it every valid request is accepted.
        ///
        /// - Parameters:
        ///   - queue: Where to call the handler.
        ///   - handler: Gets the offered subprotocols and the header fields.
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
