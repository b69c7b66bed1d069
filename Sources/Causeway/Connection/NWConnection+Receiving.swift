public import CausewayRuntime
internal import CausewaySystem
public import CausewayTypes
public import Dispatch
public import FoundationEssentials

extension NWConnection {
    /// The completion handler of a receive call. The arguments are the content, the content context, whether the
    /// message or stream is complete, and the error.
    typealias Completion = @Sendable (Data?, ContentContext?, Bool, NWError?) -> Void

    /// Receives at least `minimumIncompleteLength` bytes, or fewer at the end of the message or stream, and at most
    /// `maximumLength` bytes.
    ///
    /// Several receives may be pending; each completes once, in call order. A length below 1 counts as 1.
    ///
    /// While no receive is pending, a connection without protocols above TCP reads no data from the kernel. TLS and
    /// other protocols read ahead until their buffers are full. Each protocol usually buffers up to 64 KiB of encoded
    /// data and 64 KiB of decoded data. When the kernel's buffer is full, TCP closes the receive window, and the peer
    /// must stop sending (flow control).
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

    /// Like ``receive(minimumIncompleteLength:maximumLength:completion:)``, but delivers content that may be discontiguous.
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

    /// Receives one complete message. On a datagram connection, this is one datagram. On a byte stream, it is all
    /// content up to the end of the stream.
    ///
    /// If a byte stream has more than 16 MiB of content, the content is delivered in pieces with `isComplete` false.
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

    /// Works like ``receiveMessage(completion:)``, but delivers the content as `DispatchData`. Its bytes may be in
    /// several separate memory regions.
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

    /// Receives all datagrams that have arrived. If there are none, it waits until at least one has arrived.
    ///
    /// One call delivers a batch of datagrams without a copy. On a byte stream, the method delivers `nil`. Apple's
    /// framework has no counterpart.
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
