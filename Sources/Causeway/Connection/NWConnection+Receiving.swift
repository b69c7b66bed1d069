public import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
public import Dispatch
public import FoundationEssentials

extension NWConnection {
    /// What a receive delivers: content, its context, whether the message or stream ended with it, and what went wrong.
    typealias Completion = @Sendable (Data?, ContentContext?, Bool, NWError?) -> Void

    /// Asks for at least `minimumIncompleteLength` bytes, fewer only where the message or the stream ends first, and never more
    /// than `maximumLength`.
    ///
    /// Several receives may be outstanding; they complete in order, each once. With none outstanding nothing is read, and the
    /// peer's window closes: that is the flow control. A length below 1 counts as 1.
    @preconcurrency public func receive(
        minimumIncompleteLength: Int, maximumLength: Int,
        completion:
            @escaping @Sendable (
                _ content: Data?, _ contentContext: NWConnection.ContentContext?, _ isComplete: Bool, _ error: NWError?
            ) -> Void
    ) {
        receive(minimumIncompleteLength, maximumLength) { received in
            completion(received.data, received.context, received.isComplete, received.error?.networkError)
        }
    }

    /// As ``receive(minimumIncompleteLength:maximumLength:completion:)``, with content that need not be contiguous.
    ///
    /// Counterpart: macOS 11, iOS 14.
    @preconcurrency public func receiveDiscontiguous(
        minimumIncompleteLength: Int, maximumLength: Int,
        completion:
            @escaping @Sendable (
                _ content: DispatchData?, _ contentContext: NWConnection.ContentContext?, _ isComplete: Bool,
                _ error: NWError?
            ) -> Void
    ) {
        receive(minimumIncompleteLength, maximumLength) { received in
            completion(received.dispatchData, received.context, received.isComplete, received.error?.networkError)
        }
    }

    /// Asks for one whole message: a datagram, or on a byte stream everything up to its end.
    ///
    /// On a byte stream that does not end, content beyond 16 MiB comes in pieces with `isComplete` false.
    @preconcurrency public func receiveMessage(
        completion:
            @escaping @Sendable (
                _ completeContent: Data?, _ contentContext: NWConnection.ContentContext?, _ isComplete: Bool,
                _ error: NWError?
            ) -> Void
    ) {
        receiveMessage { received in
            completion(received.data, received.context, received.isComplete, received.error?.networkError)
        }
    }

    /// As ``receiveMessage(completion:)``, with content that need not be contiguous.
    ///
    /// Counterpart: macOS 11, iOS 14.
    @preconcurrency public func receiveMessageDiscontiguous(
        completion:
            @escaping @Sendable (
                _ completeContent: DispatchData?, _ contentContext: NWConnection.ContentContext?, _ isComplete: Bool,
                _ error: NWError?
            ) -> Void
    ) {
        receiveMessage { received in
            completion(received.dispatchData, received.context, received.isComplete, received.error?.networkError)
        }
    }

    private func receive(_ minimum: Int, _ maximum: Int, _ completion: @escaping ReceiveCompletion) {
        guard let channel = driver.channel else {
            return driver.flow.receive(minimum: minimum, maximum: maximum, completion)
        }
        channel.receive(minimum: minimum, maximum: maximum, completion)
    }

    private func receiveMessage(_ completion: @escaping ReceiveCompletion) {
        guard let channel = driver.channel else { return driver.flow.receiveMessage(completion) }
        channel.receiveMessage(completion)
    }

    /// Asks for all datagrams that have arrived, at least one.
    ///
    /// An addition of Causeway: one call and no copy for a whole train of datagrams. On a byte stream it delivers `nil`.
    public func receiveBatch(completion: @escaping @Sendable (DatagramBatch?, NWError?) -> Void) {
        driver.flow.receiveBatch { batch, failure in completion(batch, failure?.networkError) }
    }
}

extension ReceivedContent {
    var context: NWConnection.ContentContext? {
        if let packet { return .inboundDatagram(DatagramHeader(packet)) }
        if !metadata.isEmpty { return .context(of: metadata, isFinal: isFinal) }
        if isFinal { return .inboundStreamEnd }
        return data == nil ? nil : .inboundStream
    }

    var dispatchData: DispatchData? {
        data.map { data in data.withUnsafeBytes { DispatchData(bytes: $0) } }
    }
}

extension DatagramHeader {
    init(_ packet: PacketMark) {
        self.init(trafficClass: packet.trafficClass ?? 0, receiveTime: packet.timeNanoseconds)
    }
}
