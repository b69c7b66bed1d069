import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire

/// A server's connection under test, with a virtual clock and a client that writes text.
struct ServedConnection {
    typealias Event = HTTPServerConnection.Event

    var machine: HTTPServerConnection
    var now: Duration = .zero
    private(set) var output: [UInt8] = []

    init(_ tune: (inout HTTPServerLimits) -> Void = { _ in }) {
        var limits = HTTPServerLimits()
        tune(&limits)
        machine = HTTPServerConnection(limits, isSecure: false, at: .zero)
        machine.settle(at: .zero)
    }

    /// Returns the collected output as text, and clears the output.
    mutating func takeText() -> String { String(decoding: takeBytes(), as: UTF8.self) }

    mutating func takeBytes() -> [UInt8] {
        defer { output = [] }
        return output
    }

    /// Runs `body` on the connection's state machine. Returns the events that the machine reports afterwards.
    mutating func change(_ body: (inout HTTPServerConnection) throws -> Void) rethrows -> [Event] {
        try body(&machine)
        var events: [Event] = []
        repeat {
            while let event = machine.nextEvent() { events.append(event) }
        } while collectOutput()
        machine.settle(at: now)
        return events
    }

    private mutating func collectOutput() -> Bool {
        guard let bytes = machine.nextOutput() else { return false }
        output += bytes.bytes
        return true
    }

    mutating func receive(_ text: String, inPiecesOf count: Int = .max) -> [Event] {
        var events: [Event] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(count)
            rest = rest.dropFirst(count)
            events += change { [now] in $0.received(piece, at: now) }
        }
        return events
    }

    /// Advances the clock to the end of `duration`, and stops at each deadline on the way.
    mutating func advance(by duration: Duration) -> [Event] {
        let end = now + duration
        var events: [Event] = []
        while let deadline = machine.deadline, deadline <= end {
            now = max(now, deadline)
            events += change { [now] in $0.advance(to: now) }
        }
        now = end
        return events
    }

    /// Responds to a request with text.
    mutating func respond(_ id: UInt32 = 1, _ text: String = "ok", status: Int = 200) throws -> [Event] {
        try change { machine in
            try machine.respond(id, status, FieldSection(), .length(text.utf8.count))
            try machine.send(id, ByteChain(Array(text.utf8)))
            try machine.finish(id)
        }
    }
}

extension [HTTPServerConnection.Event] {
    /// The request heads in these events.
    var heads: [HTTPServerRequestHead] {
        compactMap { if case .requested(_, let head) = $0 { head } else { nil } }
    }

    /// The content of all content events, as text.
    var content: String {
        reduce(into: "") { text, event in
            if case .content(_, let bytes) = event { text += String(decoding: bytes, as: UTF8.self) }
        }
    }
}
