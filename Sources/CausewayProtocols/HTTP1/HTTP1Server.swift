internal import CausewayMachines
package import CausewayWire

/// The server side of an HTTP/1.1 connection (RFC 9112). It decodes a request only after the response to the previous
/// one is complete. Pipelined requests remain in the input until then (RFC 9112 §9.3.2).
///
/// The owner passes in received bytes and responses, and takes events and bytes to send. Input is decoded only when the
/// owner takes events, so ``inputRoom`` falls to 0 if the owner takes none. The machine responds to malformed requests
/// itself. ``Event/ended(_:)`` or ``Event/upgraded`` is reported exactly once, as the last event.
package struct HTTP1Server: Sendable {
    package struct Configuration: Sendable {
        /// Limits for request heads and trailer sections.
        package var headLimits = HeadReader.Limits()
        /// The maximum request body size in bytes to read and discard after an early response, so that the connection
        /// persists.
        package var drainLimit = 256 << 10

        package init() {}
    }

    package enum Event: Equatable, Sendable {
        /// A request head, and how its body is delimited. The owner can call ``respond(_:body:)`` immediately or later.
        case requested(HTTPRequestHead, HTTP1BodyLength)
        /// Part of the body, never empty.
        case content(ArraySlice<UInt8>)
        /// The end of the request, with its trailer fields. Not reported if the response ends first.
        case finished(trailers: FieldSection)
        /// The response switched to another protocol or opened a tunnel. This is the last event. The owner takes the remaining bytes with
        /// ``takeRemainingInput()``.
        case upgraded
        /// The connection ended. This is the last event. Close the transport after the output is sent. The failure is `nil` if no request
        /// was interrupted.
        case ended(HTTP1Failure?)
    }

    enum Phase: Equatable {
        case head
        case body
        /// The request is complete, but the response is not.
        case waiting
        /// The response is complete, but the request is not.
        case draining
        case upgrading
        case closing(HTTP1Failure?)
        case upgraded
        case ended
    }

    /// The response state. It is `awaited` until the final response head is sent.
    enum Answer {
        case none, awaited, sending
    }

    /// The current request.
    struct Exchange {
        var method = HTTP1Method.other
        var version = HTTPVersion.http11
        var answer = Answer.none
        var upgrades = false
        var awaitsContinue = false
        /// Whether the messages so far permit a persistent connection.
        var persists = true
        /// Whether the response content is discarded, because the response has no body.
        var dropsContent = false
    }

    /// The number of undecoded bytes at which ``inputRoom`` becomes 0.
    package static let inputLimit = 256 << 10

    let configuration: Configuration
    var phase = Phase.head
    var exchange = Exchange()
    var input = HTTP1Input()
    var head: HeadReader
    var body: HTTP1BodyReader
    var writer = HTTP1BodyWriter(.none)
    var output = ByteChain()

    package init(configuration: Configuration = Configuration()) {
        self.configuration = configuration
        head = HeadReader(.request, limits: configuration.headLimits)
        body = HTTP1BodyReader(.none, limits: configuration.headLimits)
    }

    /// Whether the connection waits for the first byte of a request.
    package var isIdle: Bool { phase == .head && !head.hasBegun && input.isEmpty && !input.hasEnded }
    /// Whether the owner has taken the last event.
    package var hasEnded: Bool { phase == .ended || phase == .upgraded }
    /// Whether the client waits for status 100 before it sends the body (RFC 9110 §10.1.1). Call ``inform(_:)`` with that status.
    package var awaitsContinue: Bool { exchange.awaitsContinue }
    /// Whether the messages so far permit the connection to persist after the current response.
    package var persists: Bool { exchange.persists }
    /// The number of bytes that the machine accepts now.
    package var inputRoom: Int { hasEnded ? 0 : max(0, Self.inputLimit - input.count) }
    /// Whether the connection waits for a request head or for the rest of one.
    package var awaitsHead: Bool { phase == .head }
    /// Whether the connection waits for content that the client may send now.
    package var awaitsContent: Bool { phase == .draining || phase == .body && !exchange.awaitsContinue }
    /// Whether the client has ended the stream.
    package var inputHasEnded: Bool { input.hasEnded }
    /// The number of bytes to send.
    package var outputCount: Int { output.count }

    /// Removes and returns the bytes to send.
    package mutating func takeOutput() -> ByteChain {
        defer { output = ByteChain() }
        return output
    }

    /// Closes the connection after the current response, or immediately if there is no request.
    package mutating func finish() {
        exchange.persists = false
        if phase == .head, !head.hasBegun, input.isEmpty { close(nil) }
    }

    /// Ends the connection immediately. The machine sends nothing more.
    package mutating func abort() {
        output = ByteChain()
        close(.aborted)
    }

    /// Ends the connection because the client does not send its request in time. Sends status 408 if a request has
    /// begun, but not its response (RFC 9110 §15.5.9). Has no effect on a request that is complete.
    package mutating func timedOut() {
        let hasBegun: Bool
        switch phase {
        case .head: hasBegun = !isIdle
        case .body, .draining: hasBegun = exchange.answer == .awaited
        case .waiting, .upgrading, .closing, .upgraded, .ended: return
        }
        if hasBegun {
            output.append(
                Array("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8))
        }
        close(hasBegun ? .endedEarly(received: body.received, expected: body.expected) : nil)
    }

    /// Enters the closing state; the last event follows. All endings except an upgrade use this method.
    mutating func close(_ failure: HTTP1Failure?) {
        switch phase {
        case .closing, .ended, .upgraded: return
        case .head, .body, .waiting, .draining, .upgrading: break
        }
        phase = .closing(failure)
        _ = input.removeAll()
    }
}

extension HTTP1Server: StateMachine {
    package typealias Action = Event

    package var deadline: Duration? { nil }

    package mutating func takeActions(dueAt now: Duration) -> [Event] {
        var taken: [Event] = []
        while let event = nextEvent() { taken.append(event) }
        return taken
    }
}
