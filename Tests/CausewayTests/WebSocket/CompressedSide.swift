import CausewayProtocols
import CausewayWire
import Testing

@testable import Causeway

/// One side of a compressed WebSocket connection. It records the side's events.
struct CompressedSide {
    var machine: WebSocketMachine
    /// The complete messages.
    var messages: [[UInt8]] = []
    var controls: [String] = []
    var failure: WebSocketMachine.Failure?
    var hasEnded = false
    /// The size of the largest message part that was delivered.
    var largestPart = 0
    private var partial: [UInt8] = []

    /// - Parameters:
    ///   - answer: The server's answer, as the value of its `Sec-WebSocket-Extensions` field; `nil` for a side without
    ///     compression.
    init(
        isServer: Bool, _ answer: String? = MessageDeflate.name,
        _ change: (inout WebSocketMachine.Configuration) -> Void = { _ in }
    ) {
        var configuration = WebSocketMachine.Configuration()
        configuration.skipsHandshake = true
        change(&configuration)
        machine = WebSocketMachine(
            isServer ? .server : .client(UpgradeRequest(authority: "h")), configuration: configuration)
        if let agreed = answer.flatMap({ MessageDeflate(parsing: $0) }) {
            machine.compress(with: DeflateCodec(agreed, own: MessageDeflate(), isServer: isServer))
        }
        machine.started()
        settle()
    }

    /// Creates a side that makes a handshake.
    init(_ role: WebSocketMachine.Role, _ compression: WebSocketCompression?) {
        var configuration = WebSocketMachine.Configuration()
        configuration.compression = compression
        machine = WebSocketMachine(role, configuration: configuration)
        machine.started()
        settle()
    }

    mutating func receive(_ bytes: [UInt8], piece: Int = .max) {
        var rest = bytes[...]
        repeat {
            machine.received(ByteChain(Array(rest.prefix(piece))))
            rest = rest.dropFirst(piece)
            settle()
        } while !rest.isEmpty
    }

    mutating func receiveEnd() {
        machine.inputEnded()
        settle()
    }

    /// Processes all events that the state machine reports.
    mutating func settle() {
        while let event = machine.nextEvent() {
            switch event {
            case .requested: machine.respond(UpgradeResponse())
            case .content(_, let bytes, let endsMessage):
                largestPart = max(largestPart, bytes.count)
                partial += bytes.bytes
                guard endsMessage else { continue }
                messages.append(partial)
                partial = []
            case .ping(let payload): controls.append("ping \(payload.count)")
            case .closed(let closing): controls.append("closed \(closing.code?.rawValue ?? 0)")
            case .ended(let reason): (failure, hasEnded) = (reason, true)
            case .opened, .pong, .pingAnswered, .pingLost: break
            }
        }
    }

    /// Removes and returns all bytes that the state machine wants to send.
    mutating func output() -> [UInt8] {
        var bytes: [UInt8] = []
        while let next = machine.nextOutput(atMost: 10_000) { bytes += next.bytes }
        settle()
        return bytes
    }

    /// Sends a message and returns the bytes of its frames.
    mutating func send(_ opcode: WebSocketOpcode = .binary, _ parts: [UInt8]...) -> [UInt8] {
        for (index, part) in parts.enumerated() {
            machine.send(opcode, ByteChain(part), endsMessage: index == parts.count - 1)
        }
        return output()
    }
}

/// Returns the headers of the frames in these bytes.
func headers(_ bytes: [UInt8]) -> [WebSocketFrameHeader] {
    var found: [WebSocketFrameHeader] = []
    var reader = ByteReader(bytes.span)
    while !reader.isAtEnd, let header = try? WebSocketFrameHeader(parsing: &reader, permitsCompression: true),
        (try? reader.readBytes(header.payloadLength)) != nil
    {
        found.append(header)
    }
    return found
}
