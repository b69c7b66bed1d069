package import CausewayTypes

/// The type and the length in the header of a message.
package struct TLVMetadata: StageMetadata, Equatable {
    package var type: UInt64
    /// The message length in bytes, without the header. For sent messages the stage computes it.
    package var length: UInt64

    package init(type: UInt64 = 0, length: UInt64 = 0) {
        self.type = type
        self.length = length
    }
}

/// A stage for messages in which a type and a length precede each value.
///
/// ```
/// +------------------+--------------------+---------------------+
/// |  type, T bytes   |  length, L bytes   | value, length bytes |
/// +------------------+--------------------+---------------------+
/// ```
///
/// Type and length are in network byte order. The length does not include the header. Without a type (T = 0), the
/// header is a plain length prefix.
///
/// Over a byte stream, a long message is delivered in parts. Over a protocol with messages, each message of that
/// protocol must contain exactly one type-length-value message. The stage drops an invalid datagram. It fails if an
/// invalid message comes from a reliable protocol.
package struct TLVStage: ProtocolStage {
    /// The kind of protocol below this stage.
    package enum Carrier: Sendable {
        case stream
        /// A reliable protocol that delivers complete messages.
        case messages
        case datagrams
    }

    private enum Phase {
        case idle, ready, closed
        case failed(Failure)
    }

    private let format: TLVFormat
    private var phase = Phase.idle
    private var reading = TLVReading()
    private var writing = TLVWriting()

    /// The maximum length in bytes of a message that is delivered as a whole. This limits the memory that a peer can
    /// occupy.
    package static let messageLimit = 16 << 20

    /// Creates a stage.
    ///
    /// - Parameter limit: The maximum length of a value in bytes. If the protocol below transports messages, the limit
    ///   ``messageLimit`` applies too.
    package init(_ header: TLVHeader, over carrier: Carrier, limit: Int = .max) {
        let bound = carrier == .stream ? limit : min(limit, Self.messageLimit)
        format = TLVFormat(
            header: header, carrier: carrier, limit: min(UInt64(max(0, bound)), header.largestLength))
    }

    package var status: StageStatus {
        switch phase {
        case .idle: .idle
        case .ready: .ready
        case .closed: writing.isDrained ? .closed : .ready
        case .failed(let failure): .failed(failure)
        }
    }

    package mutating func start(at now: Duration) {
        if case .idle = phase { phase = .ready }
    }

    // MARK: Inbound

    package var inboundRoom: Int { isOver ? .max : reading.room(format) }

    package mutating func receive(_ chunk: MessageChunk, at now: Duration) {
        guard !isOver else { return }
        reading.receive(chunk, format)
        checkInput()
    }

    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? {
        guard case .ready = phase else { return nil }
        let chunk = reading.next(atMost: limit, format)
        checkInput()
        return chunk
    }

    private mutating func checkInput() {
        if let failure = reading.failure { fail(failure) }
    }

    // MARK: Outbound

    package var outboundRoom: Int { isOver ? .max : writing.room }

    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool {
        guard !isOver, !writing.hasEnd else { return false }
        let fits = writing.send(chunk, format)
        if !fits { fail(.tooLong) }
        return fits
    }

    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { writing.pop(atMost: limit) }

    // MARK: Closing

    package mutating func close(at now: Duration) {
        if !isOver { phase = .closed }
    }

    package mutating func abort(_ failure: Failure) {
        if !isOver { phase = .failed(failure) }
        reading.removeAll()
        writing.removeAll()
    }

    private mutating func fail(_ failure: Failure) {
        phase = .failed(failure)
        reading.removeAll()
        writing.removeMessage()
    }

    private var isOver: Bool {
        switch phase {
        case .idle, .ready: false
        case .closed, .failed: true
        }
    }
}
