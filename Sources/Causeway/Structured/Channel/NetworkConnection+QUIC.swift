internal import CausewayTypes

extension NetworkConnection where ApplicationProtocol == QUIC {
    /// Starts the tunnel and then throws, because QUIC is not implemented. All QUIC operations call this function.
    private func use<Result>() async throws(NWError) -> Result {
        try await becomeReady()
        throw .posix(.ENOTSUP)
    }

    private func use() async throws(NWError) {
        let _: Never? = try await use()
    }

    /// The handle for `sec_protocol_metadata_*` functions.
    public var securityProtocolMetadata: sec_protocol_metadata_t { tunnel.securityProtocolMetadata }

    /// The negotiated application protocol (ALPN).
    public var negotiatedALPN: String? { tunnel.negotiatedALPN }

    /// The peer's idle timeout in milliseconds.
    public var remoteIdleTimeout: Int { tunnel.remoteIdleTimeout }

    /// The tunnel's closing error. A program sets it before ending the tunnel; after the peer has ended the tunnel, the value is the peer's
    /// error.
    public var applicationError: NWProtocolQUIC.ApplicationError {
        get { tunnel.applicationError }
        set { tunnel.applicationError = newValue }
    }

    /// Maximum number of unidirectional streams that the program may open.
    public var remoteMaxStreamsUnidirectional: Int { tunnel.remoteMaxStreamsUnidirectional }

    /// Maximum number of bidirectional streams that the program may open.
    public var remoteMaxStreamsBidirectional: Int { tunnel.remoteMaxStreamsBidirectional }

    /// The size of the largest datagram that can be sent now, in bytes; 0 if datagrams cannot be sent.
    public var usableDatagramFrameSize: Int { tunnel.usableDatagramFrameSize }

    /// Whether keepalive packets are sent on an idle tunnel.
    public var keepalive: NWProtocolQUIC.Metadata.KeepAliveBehavior {
        get { tunnel.keepAlive }
        set { tunnel.keepAlive = newValue }
    }

    /// Opens a stream. Starts the tunnel if necessary.
    ///
    /// - Throws: `.posix(.ENOTSUP)`, because QUIC is not implemented.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`.
    public func openStream(
        directionality: QUICStream.Directionality = .bidirectional
    ) async throws -> QUIC.Stream<QUICStream> {
        try await use()
    }

    /// Opens a stream and adds protocols above the stream. Starts the tunnel if necessary.
    ///
    /// - Throws: `.posix(.ENOTSUP)`, because QUIC is not implemented.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`.
    public func openStream<NewApplicationProtocol>(
        directionality: QUICStream.Directionality = .bidirectional,
        @ProtocolStackBuilder<NewApplicationProtocol> _ prepending: (QUICStream) -> NewApplicationProtocol
    ) async throws -> QUIC.Stream<NewApplicationProtocol> where NewApplicationProtocol: OneToOneProtocol {
        try await use()
    }

    /// The tunnel's datagram flow. Starts the tunnel if necessary.
    ///
    /// - Throws: `.posix(.ENOTSUP)`, because QUIC is not implemented.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`.
    public var datagrams: QUIC.Datagrams<QUICDatagram> { get async throws { try await use() } }

    /// Runs a closure for each stream that the peer opens. Can be called only once.
    ///
    /// - Throws: `.posix(.ENOTSUP)`, because QUIC is not implemented.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`.
    public func inboundStreams(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (QUIC.Stream<QUICStream>) async throws -> Void
    ) async throws {
        try await use()
    }

    /// Runs a closure for each stream that the peer opens, and adds protocols above the stream. Can be called only
    /// once.
    ///
    /// - Throws: `.posix(.ENOTSUP)`, because QUIC is not implemented.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`.
    public func inboundStreams<NewApplicationProtocol>(
        @ProtocolStackBuilder<NewApplicationProtocol> prepending: @escaping (QUICStream) -> NewApplicationProtocol,
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (QUIC.Stream<NewApplicationProtocol>) async throws -> Void
    ) async throws where NewApplicationProtocol: OneToOneProtocol {
        try await use()
    }
}

extension QUIC {
    /// One stream of a QUIC tunnel. Never created: QUIC is not implemented.
    ///
    /// Counterpart: macOS 26, iOS 26.
    // SAFETY: the added properties are immutable and `Sendable`.
    public final class Stream<ApplicationProtocol>: NetworkChannel<ApplicationProtocol>, @unchecked Sendable
    where ApplicationProtocol: NetworkProtocolOptions {
        /// The stream's tunnel.
        public let parent: NetworkConnection<QUIC>
        private let metadata: NWProtocolQUIC.Metadata

        package init(parent: NetworkConnection<QUIC>, metadata: NWProtocolQUIC.Metadata) {
            self.parent = parent
            self.metadata = metadata
            super.init(parent.connection)
        }

        /// The stream ID (RFC 9000 §2.1).
        public var streamID: UInt64 { metadata.streamIdentifier }

        /// The stream's directions.
        public var directionality: QUICStream.Directionality { .init(streamID: streamID) }

        /// The stream's initiator.
        public var initiator: QUICStream.Initiator { .init(streamID: streamID) }

        /// The stream's closing error code. A program sets it before ending the stream; after the peer has ended the stream, the value is
        /// the peer's code.
        public var streamApplicationErrorCode: UInt64 {
            get { metadata.streamApplicationErrorCode }
            set { metadata.streamApplicationErrorCode = newValue }
        }
    }

    /// The datagram flow of a QUIC tunnel. Never created: QUIC is not implemented.
    ///
    /// Counterpart: macOS 26, iOS 26.
    // SAFETY: the added properties are immutable and `Sendable`.
    public final class Datagrams<ApplicationProtocol>: NetworkChannel<ApplicationProtocol>, @unchecked Sendable
    where ApplicationProtocol: NetworkProtocolOptions {
        /// The flow's tunnel.
        public let parent: NetworkConnection<QUIC>

        package init(parent: NetworkConnection<QUIC>) {
            self.parent = parent
            super.init(parent.connection)
        }
    }
}
