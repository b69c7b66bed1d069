internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
public import FoundationEssentials

extension NWConnection {
    /// Queues content to send.
    ///
    /// - Parameters:
    ///   - content: The bytes; `nil` to end a message without more bytes. Empty content sends an empty datagram over
    ///     UDP.
    ///   - contentContext: The message to which the content belongs. Completing a final message closes the sending
    ///     direction.
    ///   - isComplete: Whether the message ends with this content.
    ///   - completion: Called once, when the transport has accepted all bytes or cannot send them. Use it to limit
    ///     queued content.
    @preconcurrency public func send(
        content: Data?, contentContext: NWConnection.ContentContext = .defaultMessage, isComplete: Bool = true,
        completion: NWConnection.SendCompletion
    ) {
        enqueue(content, contentContext, isComplete, completion.waiter)
    }

    /// Queues any `DataProtocol` content, contiguous or not.
    ///
    /// Counterpart: macOS 10.15, iOS 13.
    @preconcurrency @inlinable public func send<Content>(
        content: Content?, contentContext: NWConnection.ContentContext = .defaultMessage, isComplete: Bool = true,
        completion: NWConnection.SendCompletion
    ) where Content: DataProtocol {
        send(
            content: content.map { Data($0) }, contentContext: contentContext, isComplete: isComplete,
            completion: completion)
    }

    func enqueue(_ content: Data?, _ context: ContentContext, _ isComplete: Bool, _ waiter: SendWaiter) {
        // Queue the content first, and then call `contentCame()`. The call can start to establish the connection, and
        // the first packet can then carry the content.
        defer { driver.contentCame() }
        if let channel = driver.channel { return enqueue(content, context, isComplete, waiter, on: channel) }
        let outbound = Outbound(
            content, endsStream: context.isFinal && isComplete, trafficClass: trafficClass(of: context), waiter: waiter)
        // Most content is sent with a shared content context, which has no ticket. Such content has the default
        // priority, no deadline and no antecedent, so these values need not be passed on.
        guard let ticket = context.ticket else {
            return isComplete ? driver.flow.send(outbound) : driver.flow.send(.init(outbound, endsMessage: false))
        }
        let expiration = context.expirationMilliseconds
        driver.flow.send(
            .init(
                outbound, ticket: ticket, endsMessage: isComplete, priority: context.priority,
                deadline: expiration == 0 ? nil : System.now + .milliseconds(Int64(clamping: expiration)),
                antecedent: context.antecedent?.ticket))
    }

    /// Queues content for the protocols above the transport.
    ///
    /// These protocols keep messages in order. So the priority and the antecedent of a message have no effect.
    private func enqueue(
        _ content: Data?, _ context: ContentContext, _ isComplete: Bool, _ waiter: SendWaiter, on channel: StackChannel
    ) {
        let expiration = context.expirationMilliseconds
        let metadata = stageMetadata(of: context)
        channel.send(
            StackMessage(
                content ?? Data(), metadata: metadata, endsMessage: isComplete,
                isFinal: context.isFinal && isComplete,
                deadline: expiration == 0 ? nil : System.now + .milliseconds(Int64(clamping: expiration)),
                waiter: waiter.abandoning(metadata)))
    }

    /// Returns the traffic class that the content context sets for a datagram; `nil` to use the connection's traffic
    /// class. A stream always uses the connection's traffic class.
    private func trafficClass(of context: ContentContext) -> UInt8? {
        guard context.ticket != nil, driver.settings.transport == .udp else { return nil }
        let metadata = context.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
        return metadata?.trafficClass(connectionClass: parameters.serviceClass)
    }

    /// Runs `block` now. Content that `block` sends is transmitted after `block` returns, with as few system calls as possible.
    ///
    /// Datagrams with equal lengths are sent as one packet that the kernel splits (GSO), if the kernel supports that.
    public func batch(_ block: () -> Void) {
        driver.flow.cork()
        block()
        driver.flow.uncork()
    }
}

extension SendWaiter {
    /// Returns a result handler for a send call that may contain a WebSocket ping. If the call fails, the handler also
    /// calls the pong handler in the metadata. Returns `self` if the metadata has no pong handler.
    func abandoning(_ metadata: [any StageMetadata]) -> SendWaiter {
        guard metadata.contains(where: { ($0 as? WebSocketMetadata)?.pingToken != nil }) else { return self }
        return .callback { failure in
            if let failure { abandon(metadata, failure.networkError) }
            switch self {
            case .unobserved, .idempotent: break
            case .callback(let completion), .channel(let completion): completion(failure)
            case .task(_, let continuation): continuation.resume(returning: failure)
            }
        }
    }
}

extension NWConnection.SendCompletion {
    var waiter: SendWaiter {
        switch self {
        case .contentProcessed(let handler): .callback { failure in handler(failure?.networkError) }
        case .idempotent: .idempotent
        }
    }
}
