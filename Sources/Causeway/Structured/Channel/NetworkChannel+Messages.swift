internal import CausewayProtocols
public import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import FoundationEssentials

extension NetworkChannel where ApplicationProtocol: MessageProtocol {
    // Disfavored: the compiler then selects the faster `messages` property for UDP, unless the program declares the type
    // `AsyncThrowingStream`.
    /// Received messages as a sequence. It ends when the peer sends no more messages or an error occurs. Each step receives one message.
    @_disfavoredOverload
    public var messages: AsyncThrowingStream<ApplicationProtocol.Message<ApplicationProtocol.ContentType>, any Error> {
        AsyncThrowingStream { try await self.nextMessage() }
    }

    private func nextMessage() async throws -> ApplicationProtocol.Message<ApplicationProtocol.ContentType>? {
        guard let received = try await receiveContent() else { return nil }
        // If the program itself defines the topmost stack element, this library cannot create that element's messages.
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
    /// The topmost protocol's options.
    var topOptions: NWProtocolOptions? { parameters.defaultProtocolStack.applicationProtocols.first }

    nonisolated(nonsending)
        fileprivate func receiveMessage() async throws -> ApplicationProtocol.Message<ApplicationProtocol.ContentType>
    where ApplicationProtocol: MessageElement {
        try ApplicationProtocol.message(try await receiveWhole(), topOptions, stackListing)
    }
}

extension NetworkChannel where ApplicationProtocol: DatagramProtocol {
    /// Sends a datagram. Suspends until the transport has accepted it.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
    nonisolated(nonsending)
        public func send<Content>(
            _ content: Content, @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        try await sendBytes(content.bytes, isFinal: false, builder())
    }

    /// Receives a datagram.
    ///
    /// - Throws: `.posix(.ENOTSUP)` if the program defined the type of the topmost stack element.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no datagram is lost.
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
    /// Received datagrams as a sequence. It ends when the connection ends or an error occurs. Each step receives one datagram.
    public var messages: DatagramMessages { DatagramMessages(channel: self) }

    /// Receives a datagram. If a datagram has already arrived, the method usually returns without suspending. The method yields from time
    /// to time, so that other tasks can run.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no datagram is lost.
    nonisolated(nonsending)
        public func receive() async throws -> UDP.Message<Data>
    {
        if let datagram = takeDatagram() { return datagram }
        return UDP.message(try await receiveWhole())
    }

    /// Waits until at least one datagram has arrived, then receives all datagrams that have arrived.
    ///
    /// One call receives a batch of datagrams. Apple's framework has no counterpart.
    ///
    /// - Throws: `.posix(.EOPNOTSUPP)` if there are protocols above UDP, or the connection's error.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no datagram is lost.
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
        func nextDatagram() async throws -> UDP.Message<Data>?
    {
        if let datagram = takeDatagram() { return datagram }
        guard let received = try await receiveContent() else { return nil }
        return UDP.message(received)
    }

    @inline(__always)
    private func takeDatagram() -> UDP.Message<Data>? {
        guard hasBegun, let plainFlow, !ThreadLocal.isTaskCancelled, let (data, mark) = plainFlow.takeDatagram() else {
            return nil
        }
        return (data, UDP.Metadata(header: DatagramHeader(mark)))
    }
}

extension NetworkChannel where ApplicationProtocol == TLV {
    /// Sends a message, which starts with its type and its length. Suspends until the transport has accepted the
    /// message.
    ///
    /// - Throws: `.posix(.EINVAL)` if `type` does not fit into the type field of the message. `.posix(.EMSGSIZE)` if
    ///   the content is longer than the length field of the message allows, or longer than 16 MiB when the protocol
    ///   below is not a byte stream.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
    nonisolated(nonsending)
        public func send<Content>(
            _ content: Content, type: Int, lastMessage: Bool = false,
            @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
        ) async throws where Content: DataProtocol
    {
        let metadata = try typeMetadata(type, length: content.count)
        try await sendMessage(content.bytes, [metadata], other: builder(), isFinal: lastMessage)
    }

    /// Sends an idempotent message with a type: it may arrive more than once. A message that ``send(_:type:lastMessage:metadata:)`` would
    /// reject is dropped without an error.
    public func sendIdempotent<Content>(
        _ content: Content, type: Int, lastMessage: Bool = false,
        @ProtocolMetadataBuilder metadata builder: () -> [NWProtocolMetadata] = { [] }
    ) where Content: DataProtocol {
        guard let metadata = try? typeMetadata(type, length: content.count) else { return begin() }
        sendUnheard(content.bytes, [metadata], other: builder(), isFinal: lastMessage)
    }

    /// Receives a message.
    ///
    /// - Throws: `.posix(.ENODATA)` if the peer sends no more messages.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no message is lost.
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
    /// Whether the protocol below the topmost one is a byte stream.
    fileprivate var carriesStream: Bool {
        transportProtocol is NWProtocolTCP.Options
            && applicationProtocols.dropFirst().allSatisfy { $0 is NWProtocolTLS.Options }
    }
}

extension NetworkChannel {
    /// Sends a value. Suspends until the transport has accepted it.
    ///
    /// - Throws: The encoder's error; `.posix(.EMSGSIZE)` for an encoded value larger than 16 MiB.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
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
    /// - Throws: The decoder's error, after which the channel stays usable; `.posix(.ENODATA)` if the peer sends no more values.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no value is lost.
    nonisolated(nonsending)
        public func receive<Sending, Receiving, CoderType>() async throws -> ApplicationProtocol.Message<Receiving>
    where
        ApplicationProtocol == Coder<Sending, Receiving, CoderType>, Sending: Encodable, Receiving: Decodable,
        CoderType: NetworkCoder
    {
        try await receiveMessage()
    }

    /// Sends a message through a framer. Suspends until the transport has accepted it.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; the channel stays usable.
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
    /// - Throws: `.posix(.ENODATA)` if the peer sends no more messages.
    ///
    /// Cancellation: throws `.posix(.ECANCELED)`; no message is lost.
    nonisolated(nonsending)
        public func receive<T>() async throws -> ApplicationProtocol.Message<Data>
    where ApplicationProtocol == Framer<T>, T: FramerProtocol {
        try await receiveMessage()
    }
}
