import CausewayHTTPProtocols
import CausewayProtocols
import CausewaySystem
import CausewayWire
import FoundationEssentials

@testable import CausewayHTTP

/// An HTTP/2 server at the other end of a ``FakeTransport``.
final class HTTP2TestServer {
    private let transport: FakeTransport
    private let clock: ManualClock
    var machine: HTTP2Connection
    private(set) var events: [HTTP2Connection.Event] = []

    /// Creates an HTTP/2 server on a transport, and completes the transport's connection.
    init(_ transport: FakeTransport, _ clock: ManualClock, _ change: (inout HTTP2Configuration) -> Void = { _ in }) {
        self.transport = transport
        self.clock = clock
        var configuration = HTTP2Configuration()
        change(&configuration)
        machine = HTTP2Connection(.server, configuration: configuration)
        machine.started(at: clock.now)
        transport.connect("h2")
        run()
    }

    /// Passes bytes in both directions until neither side has more to send.
    func run() {
        while true {
            let input = transport.takeSent()
            if !input.isEmpty { machine.received(input[...], at: clock.now) }
            while let event = machine.nextEvent() { events.append(event) }
            let output = machine.nextOutput()
            if let output { transport.deliver(HTTPArrival(content: Data(output.bytes))) }
            if input.isEmpty, output == nil { return }
        }
    }

    /// Returns the reason of the last reset by the client.
    var lastReset: HTTP2ErrorCode? {
        for case .closed(_, .reset(let code)) in events.reversed() { return code }
        return nil
    }

    /// The requests so far.
    var requests: [(id: HTTP2StreamID, head: HTTP2RequestHead)] {
        events.compactMap { event in
            if case .request(let id, let head, _) = event { (id, head) } else { nil }
        }
    }

    /// Returns the request content received so far.
    func content(of id: HTTP2StreamID) -> [UInt8] {
        events.flatMap { event -> [UInt8] in
            if case .content(id, let bytes, _) = event { Array(bytes) } else { [] }
        }
    }

    /// Marks request content as consumed, so that the flow-control windows open again.
    func take(_ count: Int, of id: HTTP2StreamID) {
        machine.took(count, of: id)
        run()
    }

    func respond(_ id: HTTP2StreamID, _ body: String? = nil, status: Int = 200, fields: [(String, String)] = []) throws
    {
        var section = FieldSection()
        for (name, value) in fields { section.append(name, value) }
        try machine.respond(id, HTTP2ResponseHead(status: status, fields: section), endsStream: body == "")
        if let body, !body.isEmpty { try machine.send(id, ByteChain(Array(body.utf8)), endsStream: true) }
        run()
    }

    func reset(_ id: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        machine.reset(id, code)
        run()
    }

    /// Sends invalid bytes, which the server's state machine itself would not send.
    func sendRaw(_ bytes: [UInt8]) {
        transport.deliver(HTTPArrival(content: Data(bytes)))
        run()
    }

    func sendRaw(_ frame: HTTP2Frame, on id: HTTP2StreamID = 0) {
        var bytes: [UInt8] = []
        frame.serialize(streamID: id, into: &bytes)
        sendRaw(bytes)
    }
}

/// Content that a test supplies piece by piece.
final class TestBodySource: HTTPBodySource {
    private struct State {
        var completion: (@Sendable (HTTPBodyPiece) -> Void)?
        var pullCount = 0
        var isStopped = false
    }

    private let state = LockedValue(State())

    var pullCount: Int { state.withLock { state in state.pullCount } }
    var isStopped: Bool { state.withLock { state in state.isStopped } }
    var isPulled: Bool { state.withLock { state in state.completion != nil } }

    func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void) {
        state.withLock { state in
            state.completion = completion
            state.pullCount += 1
        }
    }

    func stop() { state.withLock { state in (state.isStopped, state.completion) = (true, nil) } }

    func supply(_ piece: HTTPBodyPiece) { state.withLock { state in state.completion.take() }?(piece) }
    func supply(_ count: Int) { supply(.content(Data(count: count))) }
}
