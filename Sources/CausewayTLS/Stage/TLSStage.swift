package import CausewayProtocols
package import CausewayTypes

/// What ``TLSStage`` asks and tells.
package enum TLSEvent: StageEvent {
    /// Judge the peer and call ``TLSStage/trustEvaluated(isTrusted:)``.
    case evaluateTrust(PeerTrust)
    /// Run this step where it delays nothing else and call ``TLSStage/stepEnded(_:)`` with what came of it.
    case step(TLSHandshakeStep)
    /// Choose who we are and call ``TLSStage/identityChosen(_:)``.
    case chooseIdentity(TLSChallenge)
    /// The handshake is done.
    case established(TLSNegotiation)
    /// It is over; why, with a text for people.
    case failed(TLSFailure)
    /// A line for a file of keys.
    case keyLog(String)
}

/// TLS, or DTLS, as a protocol of a stack: ciphertext beneath, plaintext above.
///
/// Over a stream, what goes either way is one message that the closure ends (RFC 8446 §6.1); over datagrams each is a message.
/// The stage works on one engine: copies of it are the same stage.
package struct TLSStage: ProtocolStage {
    private let home: TLSStageHome
    private var core: UnsafeMutablePointer<TLSStageCore> { home.core }

    /// - Parameters:
    ///   - engine: A fresh one, which nothing else uses from now on.
    ///   - stepsElsewhere: Whether the owner runs the steps that take long: see ``TLSEvent/step(_:)``. Otherwise they run at once.
    package init(_ engine: sending any TLSEngine, usesDatagrams: Bool, stepsElsewhere: Bool = false) {
        home = TLSStageHome(engine, usesDatagrams: usesDatagrams, stepsElsewhere: stepsElsewhere)
    }

    /// The stage for a connection with these settings. For the parameters see ``OpenSSLEngine/init(_:host:port:)``.
    ///
    /// - Throws: ``TLSFailure`` when memory is short.
    package init(
        _ context: TLSContext, host: NWEndpoint.Host? = nil, port: UInt16 = 0, stepsElsewhere: Bool = false
    ) throws(TLSFailure) {
        let engine = try OpenSSLEngine(context, host: host, port: port)
        self.init(engine, usesDatagrams: context.settings.usesDatagrams, stepsElsewhere: stepsElsewhere)
    }

    // MARK: What the owner answers and asks

    /// Answers ``TLSEvent/evaluateTrust(_:)``. Any other time it does nothing.
    package func trustEvaluated(isTrusted: Bool) {
        core.pointee.answer { $0.trustEvaluated(isTrusted: isTrusted) }
    }

    /// Answers ``TLSEvent/chooseIdentity(_:)``; `nil` for going without. Any other time it does nothing.
    package func identityChosen(_ identity: TLSIdentity?) {
        core.pointee.answer { $0.identityChosen(identity) }
    }

    /// Answers ``TLSEvent/step(_:)``. Any other time it does nothing.
    package func stepEnded(_ progress: TLSProgress) { core.pointee.stepEnded(progress) }

    /// Sends a request that does no harm when it arrives twice, before the handshake (RFC 8446 §2.3). Before the stack starts.
    ///
    /// - Returns: False when the session does not allow it: then nothing was sent.
    package mutating func sendEarly(_ bytes: [UInt8]) -> Bool { core.pointee.sendEarly(bytes) }

    /// Why it failed, with a text for people.
    package var failure: TLSFailure? { core.pointee.failure }
    /// What was agreed on; `nil` before the handshake is done.
    package var negotiation: TLSNegotiation? { core.pointee.negotiation }

    /// Keying material for other protocols (RFC 5705, RFC 8446 §7.5); `nil` before the handshake is done.
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
    package var wakeUp: Duration? { core.pointee.wakeUp }
    package mutating func advance(to now: Duration) { core.pointee.advance(to: now) }

    package mutating func close(at now: Duration) { core.pointee.close(at: now) }
    package mutating func abort(_ failure: Failure) { core.pointee.abort(failure) }
}
