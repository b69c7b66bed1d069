internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem
public import FoundationEssentials

extension NWConnection {
    /// Queues content under a context.
    ///
    /// - Parameters:
    ///   - content: The bytes; `nil` only marks the end of a message. An empty content sends an empty datagram over UDP.
    ///   - contentContext: The message that the content belongs to. Completing a final one ends the sending side.
    ///   - isComplete: Whether the message ends with this content.
    ///   - completion: Called once, when the transport has taken all bytes or will not: pace yourself by it.
    @preconcurrency public func send(
        content: Data?, contentContext: NWConnection.ContentContext = .defaultMessage, isComplete: Bool = true,
        completion: NWConnection.SendCompletion
    ) {
        enqueue(content, contentContext, isComplete, completion.waiter)
    }

    /// Queues content of any contiguous or discontiguous kind.
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
        // Behind the queueing, so that the content is there to be taken.
        defer { driver.contentCame() }
        if let channel = driver.channel { return enqueue(content, context, isComplete, waiter, on: channel) }
        let outbound = Outbound(
            content, endsStream: context.isFinal && isComplete, trafficClass: trafficClass(of: context), waiter: waiter)
        // The shared contexts have no wishes: most content takes this way.
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

    /// Above the transport each protocol keeps messages in order: priorities and antecedents have nothing to decide.
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
                waiter: metadata.isEmpty ? waiter : waiter.abandoning(metadata)))
    }

    /// What a datagram's context says about its marking; a stream's is the connection's own.
    private func trafficClass(of context: ContentContext) -> UInt8? {
        guard context.ticket != nil, driver.settings.transport == .udp else { return nil }
        let metadata = context.protocolMetadata(definition: NWProtocolIP.definition) as? NWProtocolIP.Metadata
        return metadata?.trafficClass(connectionClass: parameters.serviceClass)
    }

    /// Runs `block` at once; what it sends leaves in as few system calls as possible when it returns.
    ///
    /// Datagrams of equal length leave as one train where the kernel can segment it.
    public func batch(_ block: () -> Void) {
        driver.flow.cork()
        block()
        driver.flow.uncork()
    }
}

extension SendWaiter {
    /// The same waiter; what hangs on the message besides is told as well when it is not sent.
    fileprivate func abandoning(_ metadata: [any StageMetadata]) -> SendWaiter {
        .callback { failure in
            if let failure { abandon(metadata, failure.networkError) }
            switch self {
            case .nobody: break
            case .callback(let completion), .channel(let completion): completion(failure)
            case .task(_, let continuation): continuation.resume(returning: failure)
            }
        }
    }
}

extension NWConnection.SendCompletion {
    fileprivate var waiter: SendWaiter {
        guard let handler else { return .nobody }
        return .callback { failure in handler(failure?.networkError) }
    }
}
