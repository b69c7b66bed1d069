import CausewayHTTPProtocols
import CausewayWire
import Testing

/// A test case: the bytes that a scripted peer sends, and the error that they must cause.
struct HTTP2ErrorCase: Sendable, CustomTestStringConvertible {
    /// The state of the connection at the start of the test case, before the scripted bytes arrive.
    enum Start: Sendable {
        /// A connection that has received no byte from the peer: a server, or a client without a request.
        case fresh(HTTP2Connection.Role)
        /// A server that has completed the HTTP/2 handshake.
        case server
        /// A client that has completed the handshake and has one open request on stream 1. The value is the request's
        /// method: `GET`, `HEAD`, `CONNECT`, or `POST`. The content of a `POST` request is not sent yet.
        case client(String)
    }

    enum Expected: Equatable, Sendable {
        case connection(HTTP2ErrorCode)
        case stream(UInt32, HTTP2ErrorCode)
    }

    let name: String
    let start: Start
    let expected: Expected
    let script: @Sendable (inout HTTP2Wire) -> Void

    init(
        _ name: String, _ start: Start, _ expected: Expected, _ script: @escaping @Sendable (inout HTTP2Wire) -> Void
    ) {
        self.name = name
        self.start = start
        self.expected = expected
        self.script = script
    }

    var testDescription: String { name }

    func subject() throws -> HTTP2Subject {
        switch start {
        case .fresh(let role): return HTTP2Subject(role)
        case .server: return .open(.server)
        case .client(let method):
            var subject = HTTP2Subject.open(.client)
            let isConnect = method == "CONNECT"
            let head = HTTP2RequestHead(
                method: method, scheme: isConnect ? "" : "https", authority: "h", path: isConnect ? "" : "/")
            let endsStream = method == "GET" || method == "HEAD"
            #expect(try subject.connection.request(head, endsStream: endsStream) == 1)
            subject.collect()
            _ = subject.takeFrames()
            return subject
        }
    }

    /// Passes the bytes to the connection in pieces, and checks the resulting error.
    func check(piece: Int) throws {
        var subject = try subject()
        var wire = HTTP2Wire()
        script(&wire)
        subject.receive(wire.bytes, piece: piece)
        switch expected {
        case .connection(let code):
            #expect(subject.connection.hasEnded && subject.goAways == [code])
            guard case .ended(.violation(let violation)) = subject.events.last else {
                Issue.record("the last event is \(String(describing: subject.events.last))")
                return
            }
            #expect(violation.code == code && violation.scope == .connection)
            // The connection must ignore all input that arrives after the error.
            subject.receive { $0.frame(.ping(7)) }
            #expect(subject.connection.isFinished && subject.goAways.count == 1)
        case .stream(let id, let code):
            #expect(subject.resets.map(\.id) == [id] && subject.resets.map(\.code) == [code])
            #expect(!subject.connection.hasEnded && subject.goAways.isEmpty)
            // The connection still works.
            subject.receive { $0.frame(.ping(7)) }
            #expect(subject.frames.last?.frame == .ping(7, isAcknowledgment: true))
        }
    }
}
