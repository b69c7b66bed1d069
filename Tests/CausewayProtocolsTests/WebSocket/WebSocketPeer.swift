import CausewayProtocols
import CausewayTestKit
import CausewayWire

/// The events that a WebSocket peer reports, as comparable values.
enum Told: Equatable, Sendable {
    case requested
    case opened
    case message(WebSocketOpcode, [UInt8])
    /// A part of a message. The rest of this message has not arrived.
    case unfinished(WebSocketOpcode, [UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case pingAnswered(UInt64)
    case pingLost(UInt64)
    case closed(UInt16?, String)
    case ended(WebSocketMachine.Failure?)
}

/// A simulated WebSocket peer that records its events and its output.
struct WebSocketPeer {
    var machine: WebSocketMachine
    var told: [Told] = []
    var sent: [UInt8] = []
    private var open: (opcode: WebSocketOpcode, bytes: [UInt8])?

    init(_ machine: WebSocketMachine) { self.machine = machine }

    /// Returns a WebSocket peer without an opening handshake, as after an upgrade by other code.
    static func upgraded(
        isServer: Bool, seed: UInt64 = 1, _ change: (inout WebSocketMachine.Configuration) -> Void = { _ in }
    ) -> WebSocketPeer {
        var configuration = WebSocketMachine.Configuration()
        configuration.skipsHandshake = true
        change(&configuration)
        let role: WebSocketMachine.Role = isServer ? .server : .client(UpgradeRequest(authority: "h"))
        var peer = WebSocketPeer(
            WebSocketMachine(role, configuration: configuration, random: SplitMix64(seed: seed)))
        peer.machine.started()
        peer.settle()
        peer.told = []
        return peer
    }

    mutating func receive(_ bytes: some Sequence<UInt8>) {
        machine.received(ByteChain(Array(bytes)))
        settle()
    }

    mutating func receiveEnd() {
        machine.inputEnded()
        settle()
    }

    /// Takes all available events from the machine.
    mutating func settle() {
        while let event = machine.nextEvent() { note(event) }
        while let bytes = machine.nextOutput() { sent += bytes.bytes }
        while let event = machine.nextEvent() { note(event) }
    }

    /// All events so far. The list also contains a message that is not finished yet.
    var everything: [Told] { told + (open.map { [.unfinished($0.opcode, $0.bytes)] } ?? []) }

    private mutating func note(_ event: WebSocketMachine.Event) {
        switch event {
        case .requested: told.append(.requested)
        case .opened: told.append(.opened)
        case .content(let opcode, let bytes, let endsMessage):
            let all = (open?.bytes ?? []) + bytes.bytes
            open = endsMessage ? nil : (opcode, all)
            if endsMessage { told.append(.message(opcode, all)) }
        case .ping(let payload): told.append(.ping(payload))
        case .pong(let payload): told.append(.pong(payload))
        case .pingAnswered(let token): told.append(.pingAnswered(token))
        case .pingLost(let token): told.append(.pingLost(token))
        case .closed(let closing): told.append(.closed(closing.code?.rawValue, closing.reason))
        case .ended(let failure): told.append(.ended(failure))
        }
    }
}

/// Returns the bytes of one frame, valid or not.
func frame(
    _ opcode: UInt8, _ payload: [UInt8] = [], fin: Bool = true, rsv: UInt8 = 0, mask: UInt32? = nil,
    length: LengthForm = .shortest
) -> [UInt8] {
    var bytes: [UInt8] = [(fin ? 0x80 : 0) | rsv << 4 | opcode]
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    let count = payload.count
    switch length {
    case .shortest where count < 126: bytes.append(maskBit | UInt8(count))
    case .shortest where count < 65536, .two: bytes += [maskBit | 126, UInt8(count >> 8), UInt8(count & 255)]
    case .shortest, .eight:
        bytes.append(maskBit | 127)
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: count >> (56 - 8 * $0)) }
    }
    guard let mask else { return bytes + payload }
    let key = (0..<4).map { UInt8(truncatingIfNeeded: mask >> (24 - 8 * $0)) }
    return bytes + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
}

enum LengthForm: Sendable { case shortest, two, eight }

/// Returns the payload of a close frame.
func closing(_ code: UInt16, _ reason: [UInt8] = []) -> [UInt8] { [UInt8(code >> 8), UInt8(code & 255)] + reason }

/// Returns the WebSocket frames in a byte sequence, with unmasked payloads.
func frames(in bytes: [UInt8]) -> [(opcode: WebSocketOpcode, payload: [UInt8], fin: Bool, masked: Bool)] {
    var found: [(WebSocketOpcode, [UInt8], Bool, Bool)] = []
    var reader = ByteReader(bytes.span)
    while !reader.isAtEnd, let header = try? WebSocketFrameHeader(parsing: &reader),
        var payload = try? reader.readBytes(header.payloadLength)
    {
        header.mask?.apply(to: &payload)
        found.append((header.opcode, payload, header.isFinal, header.mask != nil))
    }
    return found
}
