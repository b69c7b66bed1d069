internal import CausewayTypes

extension NetworkConnection where ApplicationProtocol == QUIC {
    /// Stands for every operation: the tunnel starts, and that fails.
    private func use<Result>() async throws(NWError) -> Result {
        try await becomeReady()
        throw .posix(.ENOTSUP)
    }

    private func use() async throws(NWError) {
        let _: Never? = try await use()
    }

    /// The handle that `sec_protocol_metadata_*` functions take.
    public var securityProtocolMetadata: sec_protocol_metadata_t { tunnel.securityProtocolMetadata }

    /// The application protocol that was agreed on.
    public var negotiatedALPN: String? { tunnel.negotiatedALPN }

    /// Milliseconds without a packet after which the peer ends the tunnel.
    public var remoteIdleTimeout: Int { tunnel.remoteIdleTimeout }

    /// Set: why the program ends the tunnel. Read: why the peer did.
    public var applicationError: NWProtocolQUIC.ApplicationError {
        get { tunnel.applicationError }
        set { tunnel.applicationError = newValue }
    }

    /// One-way streams that the program may open.
    public var remoteMaxStreamsUnidirectional: Int { tunnel.remoteMaxStreamsUnidirectional }

    /// Two-way streams that the program may open.
    public var remoteMaxStreamsBidirectional: Int { tunnel.remoteMaxStreamsBidirectional }

    /// The largest datagram that can be sent now, in bytes; 0 for none.
    public var usableDatagramFrameSize: Int { tunnel.usableDatagramFrameSize }

    /// Whether packets keep an idle tunnel alive.
    public var keepalive: NWProtocolQUIC.Metadata.KeepAliveBehavior {
        get { tunnel.keepAlive }
        set { tunnel.keepAlive = newValue }
    }

    /// Opens a stream. Starts the tunnel if need be.
    public func openStream(
        directionality: QUICStream.Directionality = .bidirectional
    ) async throws -> QUIC.Stream<QUICStream> {
        try await use()
    }

    /// Opens a stream with protocols on top. Starts the tunnel if need be.
    public func openStream<NewApplicationProtocol>(
        directionality: QUICStream.Directionality = .bidirectional,
        @ProtocolStackBuilder<NewApplicationProtocol> _ prepending: (QUICStream) -> NewApplicationProtocol
    ) async throws -> QUIC.Stream<NewApplicationProtocol> where NewApplicationProtocol: OneToOneProtocol {
        try await use()
    }

    /// The tunnel's one flow of datagrams. Starts the tunnel if need be.
    public var datagrams: QUIC.Datagrams<QUICDatagram> { get async throws { try await use() } }

    /// Runs a closure for each stream that the peer opens. Once only.
    public func inboundStreams(
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (QUIC.Stream<QUICStream>) async throws -> Void
    ) async throws {
        try await use()
    }

    /// Runs a closure for each stream that the peer opens, with protocols on top of it. Once only.
    public func inboundStreams<NewApplicationProtocol>(
        @ProtocolStackBuilder<NewApplicationProtocol> prepending: @escaping (QUICStream) -> NewApplicationProtocol,
        @_inheritActorContext _ handler:
            @escaping @isolated(any) @Sendable (QUIC.Stream<NewApplicationProtocol>) async throws -> Void
    ) async throws where NewApplicationProtocol: OneToOneProtocol {
        try await use()
    }
}

extension QUIC {
    /// One stream of a QUIC tunnel.
    ///
    /// Counterpart: macOS 26, iOS 26.
    // SAFETY: what is added is immutable and `Sendable`.
    public final class Stream<ApplicationProtocol>: NetworkChannel<ApplicationProtocol>, @unchecked Sendable
    where ApplicationProtocol: NetworkProtocolOptions {
        /// The tunnel.
        public let parent: NetworkConnection<QUIC>
        private let metadata: NWProtocolQUIC.Metadata

        package init(parent: NetworkConnection<QUIC>, metadata: NWProtocolQUIC.Metadata) {
            self.parent = parent
            self.metadata = metadata
            super.init(parent.connection)
        }

        /// The number of the stream (RFC 9000 §2.1).
        public var streamID: UInt64 { metadata.streamIdentifier }

        /// Which ways the stream goes.
        public var directionality: QUICStream.Directionality { .init(streamID: streamID) }

        /// Who opened it.
        public var initiator: QUICStream.Initiator { .init(streamID: streamID) }

        /// Set: why the program ends the stream. Read: why the peer did.
        public var streamApplicationErrorCode: UInt64 {
            get { metadata.streamApplicationErrorCode }
            set { metadata.streamApplicationErrorCode = newValue }
        }
    }

    /// The datagram flow of a QUIC tunnel.
    ///
    /// Counterpart: macOS 26, iOS 26.
    // SAFETY: what is added is immutable and `Sendable`.
    public final class Datagrams<ApplicationProtocol>: NetworkChannel<ApplicationProtocol>, @unchecked Sendable
    where ApplicationProtocol: NetworkProtocolOptions {
        /// The tunnel.
        public let parent: NetworkConnection<QUIC>

        package init(parent: NetworkConnection<QUIC>) {
            self.parent = parent
            super.init(parent.connection)
        }
    }
}
