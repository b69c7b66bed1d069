internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes
public import FoundationEssentials

/// The internal implementation of the public send and receive methods.
extension NetworkChannel {
    // MARK: Receiving

    /// Receives bytes from a stream. `isFinal` is `true` for the stream's final bytes. Throws `ENODATA` if an earlier
    /// call returned the final bytes.
    @usableFromInline
    nonisolated(nonsending)
        func receiveBytes(_ minimum: Int, _ maximum: Int) async throws -> (Data?, isFinal: Bool)
    {
        begin()
        guard let plainFlow else { return try await receiveStackBytes(minimum, maximum) }
        guard plainFlow.isHome else { return try await receiveCancellably(plainFlow, minimum, maximum) }
        // Suspend in this function, and not in a nested async function. A nested function would allocate another async
        // stack frame for each message.
        let result = await withUnsafeContinuation { waiter in plainFlow.request(Flow.homeID, minimum, maximum, waiter) }
        switch result {
        case .success(let piece): return (piece.data, piece.isFinal)
        case .failure(let failure): throw failure.networkError
        }
    }

    /// This function is not inlined. Otherwise its variables would enlarge the async frame of `receiveBytes`, and a
    /// task keeps this frame while it waits for the transport. `receiveStackBytes` is not inlined for the same reason.
    @inline(never)
    nonisolated(nonsending)
        private func receiveCancellably(
            _ flow: Flow, _ minimum: Int, _ maximum: Int
        ) async throws -> (Data?, isFinal: Bool)
    {
        switch await flow.receivePiece(minimum: minimum, maximum: maximum) {
        case .success(let piece): return (piece.data, piece.isFinal)
        case .failure(let failure): throw failure.networkError
        }
    }

    @inline(never)
    nonisolated(nonsending)
        private func receiveStackBytes(_ minimum: Int, _ maximum: Int) async throws -> (Data?, isFinal: Bool)
    {
        let content = try await receivePart(minimum, maximum)
        return (content.data, content.isFinal)
    }

    /// Receives part of a message through the protocols above the transport.
    nonisolated(nonsending)
        func receivePart(_ minimum: Int, _ maximum: Int) async throws -> ReceivedContent
    {
        begin()
        let content =
            if let channel = connection.driver.channel {
                await channel.receive(minimum: minimum, maximum: maximum)
            } else {
                await connection.driver.flow.receiveMessage()
            }
        if let error = content.error, content.data == nil { throw error.networkError }
        return content
    }

    /// Receives a message; `nil` if there are no more messages.
    @inline(never)
    nonisolated(nonsending)
        func receiveContent() async throws -> ReceivedContent?
    {
        begin()
        let content =
            if let channel = connection.driver.channel {
                await channel.receiveMessage()
            } else {
                await connection.driver.flow.receiveMessage()
            }
        if content.data == nil, content.metadata.isEmpty, content.isFinal { return nil }
        if let error = content.error, content.data == nil { throw error.networkError }
        return content
    }

    /// Receives a message. Throws `ENODATA` if there are no more messages.
    nonisolated(nonsending)
        func receiveWhole() async throws -> ReceivedContent
    {
        guard let content = try await receiveContent() else { throw NWError.posix(.ENODATA) }
        return content
    }

    // MARK: Sending

    /// Sends stream content or a datagram.
    @usableFromInline
    nonisolated(nonsending)
        func sendBytes(_ content: Data, isFinal: Bool, _ metadata: [NWProtocolMetadata]) async throws
    {
        begin()
        if isContentAwaited { connection.driver.contentCame() }
        guard let plainFlow, metadata.isEmpty else {
            return try await sendMessage(content, other: metadata, isFinal: isFinal)
        }
        // If the transport accepts the content at once, this function does not suspend. It then calls no other async
        // function either, because such a call allocates memory.
        let attempt = plainFlow.writeNow(content, isFinal)
        guard case .done(let failure) = attempt else { return try await finish(plainFlow, content, isFinal, attempt) }
        if let failure { throw failure.networkError }
    }

    @inline(never)
    nonisolated(nonsending)
        private func finish(
            _ flow: Flow, _ content: Data, _ isFinal: Bool, _ attempt: Flow.ImmediateResult
        ) async throws
    {
        if let failure = await flow.finish(content, isFinal, attempt) { throw failure.networkError }
    }

    /// Sends a message or part of a message.
    ///
    /// - Parameters:
    ///   - own: Metadata for the topmost protocol.
    ///   - other: The program's metadata for the other protocols.
    @inline(never)
    nonisolated(nonsending)
        func sendMessage(
            _ content: Data, _ own: [any StageMetadata] = [], other: [NWProtocolMetadata] = [],
            endsMessage: Bool = true, isFinal: Bool = false
        ) async throws
    {
        begin()
        connection.driver.contentCame()
        guard let channel = connection.driver.channel else {
            let context = Self.context(other, isFinal: isFinal)
            let failure = await connection.driver.flow.suspendSending { waiter in
                connection.enqueue(content, context, endsMessage, waiter)
            }
            if let failure { throw failure.networkError }
            return
        }
        let metadata = own + Self.stageMetadata(other)
        let failure = await channel.send(content, metadata: metadata, endsMessage: endsMessage, isFinal: isFinal)
        guard let error = failure?.networkError else { return }
        abandon(metadata, error)
        throw error
    }

    /// Sends idempotent content without waiting for the result.
    func sendUnheard(
        _ content: Data, _ own: [any StageMetadata] = [], other: [NWProtocolMetadata], isFinal: Bool = false
    ) {
        begin()
        // Call `contentCame()` after the content is queued. This call can start to establish the connection, and the
        // first packet can then carry the content.
        defer { connection.driver.contentCame() }
        guard let channel = connection.driver.channel else {
            return connection.enqueue(content, Self.context(other, isFinal: isFinal), true, .idempotent)
        }
        let metadata = own + Self.stageMetadata(other)
        channel.send(
            StackMessage(
                content, metadata: metadata, isFinal: isFinal, waiter: SendWaiter.idempotent.abandoning(metadata)))
    }

    private static func context(
        _ metadata: [NWProtocolMetadata], isFinal: Bool
    ) -> NWConnection.ContentContext {
        guard !metadata.isEmpty else { return isFinal ? .finalMessage : .defaultMessage }
        return NWConnection.ContentContext(identifier: "message", isFinal: isFinal, metadata: metadata)
    }

    private static func stageMetadata(_ metadata: [NWProtocolMetadata]) -> [any StageMetadata] {
        metadata.isEmpty ? [] : Causeway.stageMetadata(of: context(metadata, isFinal: false))
    }
}

extension DataProtocol {
    /// The content as `Data`, without a copy if it is `Data` already.
    @inlinable
    var bytes: Data { (self as? Data) ?? Data(self) }
}
