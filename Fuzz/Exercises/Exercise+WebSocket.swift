internal import Causeway
internal import CausewayProtocols
internal import CausewayTestKit
internal import CausewayWire

extension Exercise {
    /// Checks that parsed frame headers are encoded to the original bytes, that masking twice restores the original, and that UTF-8
    /// validation agrees with the standard library.
    ///
    /// - Returns: The number of frames.
    @discardableResult
    public static func webSocketFrames(_ bytes: [UInt8]) -> Int {
        var reader = ByteReader(bytes.span)
        var frameCount = 0
        while !reader.isAtEnd {
            let start = reader.offset
            guard let header = try? WebSocketFrameHeader(parsing: &reader) else { break }
            var written: [UInt8] = []
            header.serialize(into: &written)
            precondition(written == Array(bytes[start..<reader.offset]) && written.count == header.byteCount)
            let count = min(header.payloadLength, reader.remaining)
            guard var payload = try? reader.readBytes(count) else { break }
            let plain = payload
            header.mask?.apply(to: &payload)
            header.mask?.apply(to: &payload)
            precondition(payload == plain)
            frameCount += 1
        }
        checkText(bytes)
        if let closing = try? WebSocketClosing(parsing: bytes),
            bytes.count <= WebSocketFrameHeader.maximumControlLength
        {
            precondition(closing.payload == bytes)
        }
        return frameCount
    }

    private static func checkText(_ bytes: [UInt8]) {
        var whole = UTF8Validator()
        let isText = whole.accepts(bytes[...]) && whole.isAtBoundary
        precondition(isText == (String(validating: bytes, as: UTF8.self) != nil))
        var pieces = UTF8Validator()
        var accepted = true
        for byte in bytes { accepted = pieces.accepts([byte]) && accepted }
        precondition((accepted && pieces.isAtBoundary) == isText)
    }

    /// Checks that the end of an HTTP head does not depend on how the input is split, that parsed requests can be encoded and parsed to
    /// equal requests, and that values from a program cannot inject a field.
    ///
    /// - Returns: Whether the bytes contain a whole head.
    @discardableResult
    public static func upgradeHead(_ bytes: [UInt8]) -> Bool {
        var isWhole = false
        for kind in [HeadReader.Kind.request, .response] {
            var reader = HeadReader(kind, limits: .upgrade)
            guard let count = try? reader.take(bytes[...]), reader.isComplete else { continue }
            var drip = HeadReader(kind, limits: .upgrade)
            for byte in bytes { _ = try? drip.take([byte]) }
            precondition(drip == reader)
            checkHead(Array(bytes.prefix(count)))
            isWhole = true
        }
        checkWriting(bytes)
        return isWhole
    }

    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

    private static func checkHead(_ head: [UInt8]) {
        if let request = try? UpgradeRequest(parsing: head), let written = try? request.serialized() {
            guard let again = try? UpgradeRequest(parsing: written) else {
                preconditionFailure("the encoded value is parsed to another value")
            }
            precondition(again.target == request.target && again.authority == request.authority)
            precondition(again.subprotocols == request.subprotocols && again.key == request.key)
            precondition(again.additionalFields.count <= request.additionalFields.count)
        }
        let request = UpgradeRequest(authority: "h", subprotocols: ["chat"], key: key)
        if let response = try? UpgradeResponse(parsing: head, for: request) {
            precondition(response.status == 101 && (response.subprotocol ?? "chat") == "chat")
        }
    }

    /// Splits the bytes at zero bytes into five parts. Builds an upgrade request from them: the target, the authority,
    /// the subprotocol, and a header field's name and value.
    private static func checkWriting(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, maxSplits: 4, omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        guard parts.count == 5 else { return }
        let request = UpgradeRequest(
            target: parts[0], authority: parts[1], subprotocols: parts[2].isEmpty ? [] : [parts[2]],
            additionalFields: [HeaderField(parts[3], parts[4])], key: key)
        guard let written = try? request.serialized() else { return }
        guard let read = try? UpgradeRequest(parsing: written) else {
            preconditionFailure("the encoded value is parsed to another value")
        }
        precondition(read.target == request.target && read.authority == request.authority)
        precondition(read.subprotocols == request.subprotocols && read.additionalFields.count == 1)
        precondition(read.additionalFields[0].name == parts[3])
    }

    /// Runs a WebSocket state machine with arbitrary bytes. The machine's events must not depend on how the input is
    /// split. The machine must end exactly once. A peer must be able to parse the machine's output.
    ///
    /// - Returns: The number of events.
    @discardableResult
    public static func webSocketMachine(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        let options = choices.next()
        let seed = choices.next()
        return webSocketMachine(options, seed, choices.rest)
    }

    /// Runs a WebSocket state machine with arbitrary bytes as the compressed payload of a message (RFC 7692). Also
    /// checks that these bytes arrive if they are sent as a message.
    ///
    /// - Returns: The number of events.
    @discardableResult
    public static func webSocketDeflate(_ bytes: [UInt8]) -> Int {
        var choices = Choices(bytes)
        let seed = choices.next() | 128
        let cut = Int(choices.next())
        let payload = choices.rest
        checkRoundTrip(payload, seed, cut: cut)
        var frames: [UInt8] = []
        let first = WebSocketFrameHeader(
            isFinal: false, isCompressed: true, opcode: .binary, payloadLength: min(cut, payload.count))
        first.serialize(into: &frames)
        frames += payload.prefix(cut)
        let rest = payload.dropFirst(cut)
        WebSocketFrameHeader(opcode: .continuation, payloadLength: rest.count).serialize(into: &frames)
        frames += rest
        return webSocketMachine(seed & 2, seed, frames)
    }

    private static func checkRoundTrip(_ payload: [UInt8], _ seed: UInt8, cut: Int) {
        var configuration = WebSocketMachine.Configuration()
        configuration.skipsHandshake = true
        configuration.fragmentSize = cut
        var (client, server) = (
            WebSocketMachine(.client(UpgradeRequest(authority: "h")), configuration: configuration),
            WebSocketMachine(.server, configuration: configuration)
        )
        guard let compression = MessageDeflate(choice: seed) else { return }
        client.compress(with: DeflateCodec(compression, own: compression, isServer: false))
        server.compress(with: DeflateCodec(compression, own: compression, isServer: true))
        client.started()
        server.started()
        for _ in 0..<2 {
            client.send(.binary, ByteChain(Array(payload.prefix(cut))), endsMessage: false)
            client.send(.binary, ByteChain(Array(payload.dropFirst(cut))))
        }
        while let bytes = client.nextOutput() { server.received(bytes) }
        var received: [UInt8] = []
        while let event = server.nextEvent() {
            if case .content(_, let bytes, _) = event { received += bytes.bytes }
        }
        precondition(received == payload + payload)
    }

    private static func webSocketMachine(_ options: UInt8, _ seed: UInt8, _ input: [UInt8]) -> Int {
        let deflate = MessageDeflate(choice: seed)
        var one = WebSocketSubject(options, deflate)
        one.receive(input)
        one.finish()
        var random = SplitMix64(seed: UInt64(seed))
        var pieces = WebSocketSubject(options, deflate)
        var rest = input[...]
        while !rest.isEmpty {
            let count = min(rest.count, random.chance(oneIn: 3) ? 1 : random.integer(in: 1...200))
            pieces.receive(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        pieces.finish()
        let exceedsWindow = deflate?.hasSmallWindow == true && differOnlyInWindow(one.told, pieces.told)
        precondition(one.told == pieces.told || exceedsWindow)
        return one.told.count
    }

    /// Whether two decoders differ only because one of them rejected a reference to bytes outside the window.
    ///
    /// Before the rejection, both must have received the same content. zlib rejects such a reference only if it no
    /// longer has the bytes. The bytes that zlib wrote in the same call are still there.
    private static func differOnlyInWindow(_ one: [String], _ other: [String]) -> Bool {
        let common = zip(one, other).prefix { $0 == $1 }.count
        return [one, other].contains { told in told.dropFirst(common).first?.contains("too far back") == true }
    }
}

extension MessageDeflate {
    /// Whether the window of at least one side is smaller than 32 KiB. Valid DEFLATE data can then refer to bytes
    /// outside that window.
    fileprivate var hasSmallWindow: Bool { min(serverWindow.maximumBits, clientWindow.maximumBits) < 15 }

    /// Creates compression parameters from one byte of the input. Returns `nil` if the byte stands for no compression.
    fileprivate init?(choice: UInt8) {
        guard choice & 128 != 0 else { return nil }
        self.init()
        (serverNoContextTakeover, clientNoContextTakeover) = (choice & 64 != 0, choice & 64 != 0)
        guard choice & 32 != 0 else { return }
        (serverWindow, clientWindow) = (.bits(8 + Int(choice & 7)), .bits(8 + Int(choice & 7)))
    }
}

/// A WebSocket state machine under test, with the checks that must succeed for any input.
private struct WebSocketSubject {
    private var machine: WebSocketMachine
    private var peer: WebSocketMachine
    private let limit: Int
    private let usesHandshake: Bool
    private var message: [UInt8] = []
    private var hasEnded = false
    /// The events as text: each complete message, each control frame, and the end.
    private(set) var told: [String] = []

    init(_ options: UInt8, _ deflate: MessageDeflate? = nil) {
        let isServer = options & 1 != 0
        limit = options & 2 != 0 ? 100 : 0
        usesHandshake = options & 8 != 0
        var configuration = WebSocketMachine.Configuration()
        configuration.maximumMessageSize = limit
        configuration.repliesToPings = options & 4 != 0
        configuration.skipsHandshake = !usesHandshake
        configuration.fragmentSize = options & 16 != 0 ? 7 : 0
        let request = UpgradeRequest(authority: "h")
        machine = WebSocketMachine(
            isServer ? .server : .client(request), configuration: configuration, random: SplitMix64(seed: 1))
        configuration.maximumMessageSize = 0
        configuration.skipsHandshake = true
        peer = WebSocketMachine(
            isServer ? .client(request) : .server, configuration: configuration, random: SplitMix64(seed: 2))
        if let deflate, !usesHandshake {
            machine.compress(with: DeflateCodec(deflate, own: deflate, isServer: isServer))
            peer.compress(with: DeflateCodec(deflate, own: deflate, isServer: !isServer))
        }
        machine.started()
        peer.started()
        if options & 32 != 0 { machine.send(.text, ByteChain(Array("a message of some length".utf8))) }
        if options & 64 != 0 { machine.sendPing([1, 2], token: 1) }
        if options & 128 != 0 { machine.close(WebSocketClosing(code: .goingAway, reason: "why")) }
        settle()
    }

    mutating func receive(_ bytes: [UInt8]) {
        machine.received(ByteChain(bytes))
        settle()
    }

    mutating func finish() {
        machine.inputEnded()
        settle()
        machine.abort()
        settle()
        precondition(hasEnded && machine.isFinished)
    }

    private mutating func settle() {
        var moved = true
        while moved {
            moved = false
            while let event = machine.nextEvent(atMost: 64) {
                note(event)
                moved = true
            }
            while let bytes = machine.nextOutput(atMost: 50) {
                precondition(!bytes.isEmpty)
                moved = true
                if !usesHandshake { peer.received(bytes) }
            }
        }
        while let event = peer.nextEvent() {
            if case .ended(let failure?) = event { preconditionFailure("the peer cannot parse the output: \(failure)") }
        }
    }

    private mutating func note(_ event: WebSocketMachine.Event) {
        precondition(!hasEnded)
        switch event {
        case .requested: machine.respond(UpgradeResponse())
        case .opened: told.append("opened")
        case .content(let opcode, let bytes, let endsMessage):
            precondition(bytes.count <= 64 && (endsMessage || !bytes.isEmpty))
            message += bytes.bytes
            precondition(limit == 0 || message.count <= limit)
            guard endsMessage else { return }
            precondition(opcode == .binary || String(validating: message, as: UTF8.self) != nil)
            told.append("\(opcode) \(message)")
            message = []
        case .ping(let payload): told.append("ping \(payload)")
        case .pong(let payload): told.append("pong \(payload)")
        case .pingAnswered(let token): told.append("answered \(token)")
        case .pingLost(let token): told.append("lost \(token)")
        case .closed(let closing): told.append("closed \(closing)")
        case .ended(let failure):
            hasEnded = true
            told.append("ended \(failure.map { "\($0)" } ?? "well")")
        }
    }
}
