import CausewayWire

@testable import CausewayProtocols

/// Returns a section with these fields.
func fields(_ fields: (String, String)...) -> FieldSection {
    var section = FieldSection()
    for (name, value) in fields { section.append(name, value) }
    return section
}

extension ByteChain {
    /// The bytes as text.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A connection's events as text. Consecutive parts of content are joined.
struct HTTP1Trace {
    private(set) var lines: [String] = []
    private var content: String?

    mutating func add(content bytes: ArraySlice<UInt8>) {
        precondition(!bytes.isEmpty)
        content = (content ?? "") + String(decoding: bytes, as: UTF8.self)
    }

    mutating func add(_ line: String) {
        if let content { lines.append("content " + content) }
        content = nil
        lines.append(line)
    }

    /// All trace lines so far. This includes content after which no other event has followed yet.
    var all: [String] { lines + (content.map { ["content " + $0] } ?? []) }

    static func text(_ fields: FieldSection) -> String { fields.isEmpty ? "" : " " + fields.description }

    static func text(_ failure: HTTP1Failure?) -> String { failure.map { "ended \($0)" } ?? "ended" }
}

/// An HTTP/1.1 client under test, and the events that it has reported.
struct TracedClient {
    var client: HTTP1Client
    var trace = HTTP1Trace()

    init(configuration: HTTP1Client.Configuration = .init()) { client = HTTP1Client(configuration: configuration) }

    /// Creates an HTTP/1.1 client that has sent one request.
    init(_ method: String, _ extra: (String, String)...) throws {
        self.init()
        var fields = fields(("Host", "h"))
        for (name, value) in extra { fields.append(name, value) }
        try client.send(HTTPRequestHead(method: method, target: "/", fields: fields), at: .zero)
        _ = client.takeOutput()
    }

    mutating func receive(_ text: String, pieceLength: Int = .max) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            client.received(rest.prefix(pieceLength))
            rest = rest.dropFirst(pieceLength)
            takeEvents()
        }
    }

    mutating func end(isClean: Bool = true) {
        client.inputEnded(isClean: isClean)
        takeEvents()
    }

    mutating func takeEvents(atMost limit: Int = .max) {
        while let event = client.nextEvent(atMost: limit) {
            switch event {
            case .informational(let head): trace.add("informational \(head.status)" + HTTP1Trace.text(head.fields))
            case .responded(let head, let length): trace.add("responded \(head.status) \(length)")
            case .content(let bytes): trace.add(content: bytes)
            case .finished(let trailers, let reuse):
                trace.add((reuse == .refused ? "finished" : "finished, reusable") + HTTP1Trace.text(trailers))
            case .upgraded(let head): trace.add("upgraded \(head.status)")
            case .ended(let failure): trace.add(HTTP1Trace.text(failure))
            }
        }
    }
}

/// A server and the events that it reported.
struct TracedServer {
    var server: HTTP1Server
    var trace = HTTP1Trace()

    init(configuration: HTTP1Server.Configuration = .init()) { server = HTTP1Server(configuration: configuration) }

    mutating func receive(_ text: String, pieceLength: Int = .max) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            server.received(rest.prefix(pieceLength))
            rest = rest.dropFirst(pieceLength)
            takeEvents()
        }
    }

    mutating func end() {
        server.inputEnded()
        takeEvents()
    }

    mutating func takeEvents(atMost limit: Int = .max) {
        while let event = server.nextEvent(atMost: limit) {
            switch event {
            case .requested(let head, let length): trace.add("\(head.method) \(head.target) \(length)")
            case .content(let bytes): trace.add(content: bytes)
            case .finished(let trailers): trace.add("finished" + HTTP1Trace.text(trailers))
            case .upgraded: trace.add("upgraded")
            case .ended(let failure): trace.add(HTTP1Trace.text(failure))
            }
        }
    }
}
