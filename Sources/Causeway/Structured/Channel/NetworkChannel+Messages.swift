internal import CausewayProtocols
public import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol: MessageProtocol {
    /// Whole messages, until the peer ends or something fails. Each is received when it is asked for.
    public var messages: AsyncThrowingStream<ApplicationProtocol.Message<ApplicationProtocol.ContentType>, any Error> {
        AsyncThrowingStream { try await self.nextMessage() }
    }

    private func nextMessage() async throws -> ApplicationProtocol.Message<ApplicationProtocol.ContentType>? {
        guard let received = try await receiveContent() else { return nil }
        // An element of the program's own carries nothing.
        guard let element = ApplicationProtocol.self as? any MessageElement.Type else { throw NWError.posix(.ENOTSUP) }
        return try decode(received, as: element)
    }

    private func decode<Element: MessageElement>(
        _ received: ReceivedContent, as element: Element.Type
    ) throws -> ApplicationProtocol.Message<ApplicationProtocol.ContentType> {
        let message = try Element.message(received, topOptions, stackListing)
        guard let content = message.content as? ApplicationProtocol.ContentType,
            let metadata = message.metadata as? ApplicationProtocol.Metadata
        else { throw NWError.posix(.ENOTSUP) }
        return (content, metadata)
    }
}

extension NetworkChannel {
    /// The options of the stack's top.
    var topOptions: NWProtocolOptions? { parameters.defaultProtocolStack.applicationProtocols.first }

    nonisolated(nonsending)
        fileprivate func receiveMessage() async throws -> ApplicationProtocol.Message<ApplicationProtocol.ContentType>
    where ApplicationProtocol: MessageElement {
        try ApplicationProtocol.message(try await receiveWhole(), topOptions, stackListing)
    }
}

extension NetworkChannel where ApplicationProtocol: DatagramProtocol {
    /// Sends a datagram; suspends until the transport has taken it.
    nonisolated(nonsending)
        public func send<Content>(
            _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        try await sendBytes(content.bytes, isFinal: false, builder())
    }

    /// Receives a datagram.
    nonisolated(nonsending)
        public func receive() async throws -> ApplicationProtocol.Message<Data>
    {
        let (content, metadata) = UDP.message(try await receiveWhole())
        if let metadata = metadata as? ApplicationProtocol.Metadata { return (content, metadata) }
        let quic = QUICDatagram.Metadata(other: [])
        guard let metadata = quic as? ApplicationProtocol.Metadata else { throw NWError.posix(.ENOTSUP) }
        return (content, metadata)
    }
}

extension NetworkChannel where ApplicationProtocol == UDP {
    /// Datagrams, until the connection ends or something fails. Each is received when it is asked for.
    public var messages: AsyncThrowingStream<UDP.Message<Data>, any Error> {
        AsyncThrowingStream { try await self.nextDatagram() }
    }

    /// Receives a datagram. One that has arrived already costs no suspension, save now and then, so that other tasks get their turn.
    nonisolated(nonsending)
        public func receive() async throws -> UDP.Message<Data>
    {
        if let datagram = takeDatagram() { return datagram }
        return UDP.message(try await receiveWhole())
    }

    /// Receives all datagrams that have arrived, at least one.
    ///
    /// An addition of Causeway: one call for a whole train of datagrams. Cancelling the task does not end it; the connection's end does.
    ///
    /// - Throws: `.posix(.EOPNOTSUPP)` where protocols stand above UDP, and why the connection ended.
    nonisolated(nonsending)
        public func receiveBatch() async throws -> DatagramBatch
    {
        begin()
        guard let plainFlow else { throw NWError.posix(.EOPNOTSUPP) }
        do throws(Failure) {
            guard let batch = try await plainFlow.receiveBatch() else { throw Failure(errno: Errno.noData) }
            return batch
        } catch {
            throw error.networkError
        }
    }

    nonisolated(nonsending)
        private func nextDatagram() async throws -> UDP.Message<Data>?
    {
        if let datagram = takeDatagram() { return datagram }
        guard let received = try await receiveContent() else { return nil }
        return UDP.message(received)
    }

    @inline(__always)
    private func takeDatagram() -> UDP.Message<Data>? {
        guard hasBegun, let plainFlow, !ThreadLocal.isTaskCancelled, let content = plainFlow.takeDatagram() else {
            return nil
        }
        return UDP.message(content)
    }
}

extension NetworkChannel where ApplicationProtocol == TLV {
    /// Sends a message of a type; suspends until the transport has taken it.
    ///
    /// - Throws: `.posix(.EINVAL)` for a type that does not fit into its bytes, `.posix(.EMSGSIZE)` for content that is longer than its
    ///   length can tell, or than 16 MiB over other messages.
    nonisolated(nonsending)
        public func send<Content>(
            _ content: Content, type: Int, lastMessage: Bool = false,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        let metadata = try typeMetadata(type, length: content.count)
        try await sendMessage(content.bytes, [metadata], other: builder(), isFinal: lastMessage)
    }

    /// Sends a message of a type that does no harm when it arrives more than once. One that ``send(_:type:lastMessage:metadata:)`` would
    /// refuse is not sent.
    public func sendIdempotent<Content>(
        _ content: Content, type: Int, lastMessage: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        guard let metadata = try? typeMetadata(type, length: content.count) else { return begin() }
        sendUnheard(content.bytes, [metadata], other: builder(), isFinal: lastMessage)
    }

    /// Receives a message.
    ///
    /// - Throws: `.posix(.ENODATA)` when the peer sends no other.
    nonisolated(nonsending)
        public func receive() async throws -> ApplicationProtocol.Message<Data>
    {
        try await receiveMessage()
    }

    private func typeMetadata(_ type: Int, length: Int) throws(NWError) -> TLVMetadata {
        guard let header = (topOptions as? TLVOptions)?.header, type >= 0, UInt64(type) <= header.largestType else {
            throw .posix(.EINVAL)
        }
        let isStream = parameters.defaultProtocolStack.carriesStream
        guard UInt64(length) <= header.largestLength, isStream || length <= TLVStage.messageLimit else {
            throw .posix(.EMSGSIZE)
        }
        return TLVMetadata(type: UInt64(type), length: UInt64(length))
    }
}

extension NWParameters.ProtocolStack {
    /// Whether what lies beneath the topmost protocol is a byte stream.
    fileprivate var carriesStream: Bool {
        transportProtocol is NWProtocolTCP.Options
            && applicationProtocols.dropFirst().allSatisfy { $0 is NWProtocolTLS.Options }
    }
}

extension NetworkChannel {
    /// Sends a value; suspends until the transport has taken it.
    ///
    /// - Throws: What the encoder throws, and `.posix(.EMSGSIZE)` for a value of more than 16 MiB.
    nonisolated(nonsending)
        public func send<Sending, Receiving, CoderType>(
            _ content: Sending, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws
    where
        ApplicationProtocol == Coder<Sending, Receiving, CoderType>, Sending: Encodable, Receiving: Decodable,
        CoderType: NetworkCoder
    {
        let data = try ApplicationProtocol.coder(in: topOptions).makeEncoder().encode(content)
        guard data.count <= TLVStage.messageLimit else { throw NWError.posix(.EMSGSIZE) }
        try await sendBytes(data, isFinal: false, builder())
    }

    /// Receives a value.
    ///
    /// - Throws: What the decoder throws; the channel stays usable. `.posix(.ENODATA)` when the peer sends no other.
    nonisolated(nonsending)
        public func receive<Sending, Receiving, CoderType>() async throws -> ApplicationProtocol.Message<Receiving>
    where
        ApplicationProtocol == Coder<Sending, Receiving, CoderType>, Sending: Encodable, Receiving: Decodable,
        CoderType: NetworkCoder
    {
        try await receiveMessage()
    }

    /// Sends a message through a framer; suspends until the transport has taken it.
    nonisolated(nonsending)
        public func send<T>(
            _ content: Data, lastMessage: Bool = false, metadata: NWProtocolFramer.Message? = nil,
            @ProtocolMetadataBuilder other builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where ApplicationProtocol == Framer<T>, T: FramerProtocol
    {
        let own = metadata.map { [FramerMetadata(message: $0)] } ?? []
        try await sendMessage(content, own, other: builder(), isFinal: lastMessage)
    }

    /// Receives a message from a framer.
    ///
    /// - Throws: `.posix(.ENODATA)` when the peer sends no other.
    nonisolated(nonsending)
        public func receive<T>() async throws -> ApplicationProtocol.Message<Data>
    where ApplicationProtocol == Framer<T>, T: FramerProtocol {
        try await receiveMessage()
    }
}
