package import CausewayProtocols
package import CausewayTypes

/// Requests and notifications from a ``TLSStage``.
package enum TLSEvent: StageEvent {
    /// The stage's owner must validate the peer and call ``TLSStage/trustEvaluated(isTrusted:)``.
    case evaluateTrust(PeerTrust)
    /// The stage's owner must run this handshake step on a background thread. It then passes the result to
    /// ``TLSStage/stepEnded(_:)``.
    case step(TLSHandshakeStep)
    /// The stage's owner must choose a local identity and pass it to ``TLSStage/identityChosen(_:)``.
    case chooseIdentity(TLSChallenge)
    /// The handshake is complete.
    case established(TLSNegotiation)
    /// The connection failed. The value contains a human-readable description.
    case failed(TLSFailure)
    /// A line for the key log file.
    case keyLog(String)
}

/// TLS or DTLS as a protocol stack stage, with ciphertext below and plaintext above.
///
/// Over a stream, all content of one direction is a single message, and a close_notify ends it (RFC 8446 §6.1). Over
/// datagrams, each datagram is a message. Copies of a stage share one engine and its state.
package struct TLSStage: ProtocolStage {
    private let shared: SharedTLSStage
    private var core: UnsafeMutablePointer<TLSStageCore> { shared.core }

    /// Creates a stage for an engine.
    ///
    /// - Parameters:
    ///   - engine: A new engine, which the stage then uses exclusively.
    ///   - usesDatagrams: Whether the engine uses DTLS.
    ///   - stepsElsewhere: Whether the stage's owner runs the slow parts of the handshake on a background thread: see
    ///     ``TLSEvent/step(_:)``. Otherwise the stage runs them immediately.
    package init(_ engine: sending any TLSEngine, usesDatagrams: Bool, stepsElsewhere: Bool = false) {
        shared = SharedTLSStage(engine, usesDatagrams: usesDatagrams, stepsElsewhere: stepsElsewhere)
    }

    /// Creates a stage with a new OpenSSL engine. For the parameters see ``OpenSSLEngine/init(_:host:port:)``.
    ///
    /// - Throws: ``TLSFailure`` if memory allocation fails.
    package init(
        _ context: TLSContext, host: NWEndpoint.Host? = nil, port: UInt16 = 0, stepsElsewhere: Bool = false
    ) throws(TLSFailure) {
        let engine = try OpenSSLEngine(context, host: host, port: port)
        self.init(engine, usesDatagrams: context.settings.usesDatagrams, stepsElsewhere: stepsElsewhere)
    }

    // MARK: Calls by the stage's owner

    /// Passes the validation result that ``TLSEvent/evaluateTrust(_:)`` requests to the engine. Does nothing if the
    /// engine does not wait for an answer.
    package func trustEvaluated(isTrusted: Bool) {
        core.pointee.answer { $0.trustEvaluated(isTrusted: isTrusted) }
    }

    /// Passes the identity that ``TLSEvent/chooseIdentity(_:)`` requests to the engine; `nil` to continue without a
    /// certificate. Does nothing if the engine does not wait for an answer.
    package func identityChosen(_ identity: TLSIdentity?) {
        core.pointee.answer { $0.identityChosen(identity) }
    }

    /// Passes the result of a handshake step (``TLSEvent/step(_:)``) to the stage. Does nothing if no step is running.
    package func stepEnded(_ progress: TLSProgress) { core.pointee.stepEnded(progress) }

    /// Sends a request as early data, before the handshake is complete (RFC 8446 §2.3). The request must be harmless if
    /// it arrives twice. Call this method before the stage is started.
    ///
    /// - Returns: `false` if the session does not allow this much early data, or if the stage has started; then nothing
    ///   is sent.
    package mutating func sendEarly(_ bytes: [UInt8]) -> Bool { core.pointee.sendEarly(bytes) }

    /// The failure, with a human-readable description; `nil` if the connection has not failed.
    package var failure: TLSFailure? { core.pointee.failure }
    /// The negotiated parameters; `nil` before the handshake is complete.
    package var negotiation: TLSNegotiation? { core.pointee.negotiation }

    /// Exports keying material for other protocols (RFC 5705, RFC 8446 §7.5); `nil` before the handshake is complete.
    package func exportSecret(label: String, context: [UInt8]?, count: Int) -> [UInt8]? {
        core.pointee.exportSecret(label: label, context: context, count: count)
    }

    // MARK: The stage

    package var status: StageStatus { core.pointee.status }
    package var pendingFlags: StagePendingFlags { core.pointee.pendingFlags }
    package var awaitsPeer: Bool { core.pointee.awaitsPeer }
    package mutating func start(at now: Duration) { core.pointee.start(at: now) }

    package var inboundRoom: Int { core.pointee.inboundRoom }
    package mutating func receive(_ chunk: MessageChunk, at now: Duration) { core.pointee.receive(chunk, at: now) }
    package mutating func receive(lent bytes: UnsafeRawBufferPointer, at now: Duration) {
        core.pointee.receive(lent: bytes, at: now)
    }
    package mutating func receive(
        lent bytes: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer, at now: Duration
    ) -> Int? {
        core.pointee.receive(lent: bytes, into: room, at: now)
    }
    package mutating func nextInbound(atMost limit: Int) -> MessageChunk? { core.pointee.nextInbound(atMost: limit) }

    package var outboundRoom: Int { core.pointee.outboundRoom }
    @discardableResult
    package mutating func send(_ chunk: MessageChunk, at now: Duration) -> Bool { core.pointee.send(chunk, at: now) }
    @discardableResult
    package mutating func send(lent bytes: UnsafeRawBufferPointer, in envelope: MessageChunk, at now: Duration) -> Bool
    {
        core.pointee.send(lent: bytes, in: envelope, at: now)
    }
    package mutating func nextOutbound(atMost limit: Int) -> MessageChunk? { core.pointee.nextOutbound(atMost: limit) }
    package mutating func takeOutbound(into room: UnsafeMutableRawBufferPointer) -> Int {
        core.pointee.takeOutbound(into: room)
    }

    package mutating func nextEvent() -> (any StageEvent)? { core.pointee.nextEvent() }
    package var deadline: Duration? { core.pointee.deadline }
    package mutating func advance(to now: Duration) { core.pointee.advance(to: now) }

    package mutating func close(at now: Duration) { core.pointee.close(at: now) }
    package mutating func abort(_ failure: Failure) { core.pointee.abort(failure) }
}
