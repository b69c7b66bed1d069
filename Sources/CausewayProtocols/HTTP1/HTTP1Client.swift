internal import CausewayMachines
package import CausewayWire

/// The client side of an HTTP/1.1 connection (RFC 9112): one request at a time.
///
/// The owner passes in requests and received bytes, and takes bytes to send and events. Input is decoded only when the
/// owner takes events, so ``inputRoom`` falls to 0 if the owner takes none. ``Event/ended(_:)`` or
/// ``Event/upgraded(_:)`` is reported exactly once, as the last event, unless ``handOver()`` ends the machine.
package struct HTTP1Client: Sendable {
    package struct Configuration: Sendable {
        /// Limits for response heads and trailer sections.
        package var headLimits = HeadReader.Limits()
        /// The maximum number of interim responses to one request.
        package var maximumInformationalCount = 32
        /// The time to wait for status 100 before the body is sent anyway (RFC 9110 §10.1.1).
        package var continueTimeout: Duration = .seconds(1)

        package init() {}
    }

    /// Whether the connection can carry another request.
    package enum Reuse: Equatable, Sendable {
        /// The connection can be reused within the server's stated limits.
        case permitted(KeepAlive)
        /// The connection cannot be reused. ``Event/ended(_:)`` follows.
        case refused
    }

    package enum Event: Equatable, Sendable {
        /// An interim response (RFC 9110 §15.2). Further responses follow.
        case informational(HTTPResponseHead)
        /// The response head, and how its body is delimited.
        case responded(HTTPResponseHead, HTTP1BodyLength)
        /// A part of the body, never empty.
        case content(ArraySlice<UInt8>)
        /// The end of the response, with its trailer fields.
        case finished(trailers: FieldSection, Reuse)
        /// The server switched to another protocol with status 101 (RFC 9110 §15.2.2), or opened the tunnel that CONNECT requested. This is
        /// the last event.
        /// The owner takes the remaining bytes with ``takeRemainingInput()``.
        case upgraded(HTTPResponseHead)
        /// The connection ended. This is the last event. Close the transport. The failure is `nil` if no response was interrupted.
        case ended(HTTP1Failure?)
    }

    enum Phase: Equatable {
        case idle
        case head
        case body
        case closing(HTTP1Failure?)
        case upgraded
        case ended
    }

    /// The current request.
    struct Exchange {
        var method = HTTP1Method.other
        var upgrades = false
        /// Whether the messages so far permit a persistent connection.
        var persists = true
        /// Whether the rest of the request body is discarded, because the server responded without waiting for it.
        var dropsBody = false
        var keepAlive = KeepAlive()
        var informationalCount = 0
        /// The time at which a body that waits for status 100 is sent anyway; `nil` if no body waits.
        var holdDeadline: Duration?
    }

    /// The number of undecoded bytes at which ``inputRoom`` becomes 0.
    package static let inputLimit = 256 << 10

    let configuration: Configuration
    var phase = Phase.idle
    var exchange = Exchange()
    var input = HTTP1Input()
    var head: HeadReader
    var body: HTTP1BodyReader
    private var writer = HTTP1BodyWriter(.none)
    private var output = ByteChain()
    /// Body bytes that wait for status 100.
    private var held = ByteChain()
    /// A cache for the last heads, because the next ones are often equal.
    var lastHeads = HTTP1LastHeads()

    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        head = HeadReader(.response, limits: configuration.headLimits)
        body = HTTP1BodyReader(.none, limits: configuration.headLimits)
    }

    /// Whether the connection waits for a request.
    package var isIdle: Bool { phase == .idle && !input.hasEnded && input.isEmpty }
    /// Whether the owner has taken the last event.
    package var hasEnded: Bool { phase == .ended || phase == .upgraded }
    /// Whether the whole request body has been added to the output.
    package var hasSentRequest: Bool { writer.hasEnded && held.isEmpty && !exchange.dropsBody }
    /// Whether the body waits for status 100. New content is accepted, but is not yet added to the output.
    package var isBodyHeld: Bool { exchange.holdDeadline != nil }
    /// Whether the body was not sent, because the server responded without waiting for it.
    package var dropsBody: Bool { exchange.dropsBody }
    /// The time at which to call ``advance(to:)``; `nil` if there is none.
    package var deadline: Duration? { exchange.holdDeadline }
    /// The number of bytes that the machine accepts now.
    package var inputRoom: Int { hasEnded ? 0 : max(0, Self.inputLimit - input.count) }
    /// Whether ``takeOutput()`` returns bytes.
    package var hasOutput: Bool { !output.isEmpty }
    /// The number of bytes to send, including body bytes that wait for status 100.
    package var outputCount: Int { output.count + held.count }
    /// The number of response content bytes delivered so far.
    package var receivedCount: Int { body.received }

    // MARK: Sending

    /// Sends a request head. Send the body afterwards, unless `length` is ``HTTP1BodyLength/none``.
    ///
    /// The machine adds `Content-Length` or `Transfer-Encoding`. If the head has `Expect: 100-continue`, the machine
    /// keeps the body until the server responds with status 100, for at most ``Configuration/continueTimeout`` (RFC
    /// 9110 §10.1.1, §15.2.1).
    ///
    /// - Parameters:
    ///   - length: The body length.
    ///   - now: The current time.
    /// - Throws: ``HTTP1Failure/unwritable(_:)`` or ``HTTP1Failure/misuse(_:)``. The connection state is then
    ///   unchanged.
    package mutating func send(
        _ request: HTTPRequestHead, body length: HTTP1BodyLength = .none, at now: Duration
    ) throws(HTTP1Failure) {
        guard isIdle else { throw .misuse("request on a connection that is not idle") }
        guard length != .untilEnd else { throw .misuse("request whose body ends with the connection") }
        if length == .none, let (bytes, facts) = lastHeads.encoded(request) {
            output.append(bytes)
            writer = HTTP1BodyWriter(.none)
            exchange = facts
            phase = .head
            return
        }
        let fields = request.fields
        guard request.version < .http11 || fields.onlyValue(of: "Host") != nil else {
            throw .unwritable(.unwritable("field Host"))
        }
        guard request.version >= .http11 || length != .chunked else {
            throw .misuse("chunked body of an HTTP/1.0 request")
        }
        try HTTP1FramingFields.check(fields, length)
        var bytes: [UInt8] = []
        do {
            try request.encode(into: &bytes)
        } catch {
            throw .unwritable(error)
        }
        HTTP1FramingFields.append(length, fields, toHead: &bytes)
        output.append(bytes)
        writer = HTTP1BodyWriter(length)
        exchange = Exchange()
        exchange.method = HTTP1Method(request.method)
        exchange.upgrades = fields.contains("Upgrade")
        exchange.persists = HTTP1Persistence.isPermitted(version: request.version, fields: fields)
        if length != .none, length != .length(0), fields.hasElement("100-continue", in: "Expect") {
            exchange.holdDeadline = now + configuration.continueTimeout
        }
        if length == .none { lastHeads.note(request, bytes, exchange) }
        phase = .head
    }

    /// Sends part of the body. If the server has responded without waiting for the body, the part is discarded.
    ///
    /// - Throws: ``HTTP1Failure/misuse(_:)`` if the body becomes longer than stated. The connection must then be ended.
    package mutating func sendContent(_ piece: ArraySlice<UInt8>) throws(HTTP1Failure) {
        guard phase == .head || phase == .body, !exchange.dropsBody else { return }
        if isBodyHeld { try writer.append(piece, to: &held) } else { try writer.append(piece, to: &output) }
    }

    /// Sends the end of the body.
    ///
    /// - Parameter trailers: Trailer fields for a chunked body.
    /// - Throws: ``HTTP1Failure/misuse(_:)`` if the body is shorter than stated, ``HTTP1Failure/unwritable(_:)`` for trailer fields that
    ///   cannot be written. The connection must then be ended.
    package mutating func sendEnd(trailers: FieldSection = FieldSection()) throws(HTTP1Failure) {
        guard phase == .head || phase == .body, !exchange.dropsBody else { return }
        if isBodyHeld { try writer.end(trailers, to: &held) } else { try writer.end(trailers, to: &output) }
    }

    /// Removes and returns the bytes to send.
    package mutating func takeOutput() -> ByteChain {
        var taken = ByteChain()
        swap(&taken, &output)
        return taken
    }

    /// Sends a body that waits for status 100 if its deadline has passed. Calling early, late or twice is harmless.
    package mutating func advance(to now: Duration) {
        guard let deadline = exchange.holdDeadline, now >= deadline else { return }
        releaseBody()
    }

    /// Moves a body that waits for status 100 to the output.
    mutating func releaseBody() {
        guard isBodyHeld else { return }
        exchange.holdDeadline = nil
        output.append(held)
        held = ByteChain()
    }

    /// Discards a body that waits for status 100, because the server sent its final response first, or because the
    /// connection ends. The connection cannot be reused: the server might interpret the next request as the body (RFC
    /// 9110 §10.1.1).
    mutating func dropHeldBody() {
        guard isBodyHeld else { return }
        exchange.holdDeadline = nil
        held = ByteChain()
        exchange.dropsBody = true
    }

    /// Ends the connection immediately. The machine sends nothing more.
    package mutating func abort() {
        output = ByteChain()
        close(.aborted)
    }

    /// Enters the closing state; the last event follows. All endings except an upgrade and ``handOver()`` use this
    /// method.
    mutating func close(_ failure: HTTP1Failure?) {
        switch phase {
        case .closing, .ended, .upgraded: return
        case .idle, .head, .body: break
        }
        phase = .closing(failure)
        dropHeldBody()
        _ = input.removeAll()
    }
}

extension HTTP1Client: QueueingMachine {
    package typealias Action = Event

    package mutating func takeActions() -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}
