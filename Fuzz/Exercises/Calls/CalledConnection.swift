internal import CausewayTestKit

/// A connection for fuzzing. The fuzzer's input selects the actions of the peer and of the program.
protocol CalledConnection {
    /// A record of the events as text. It also contains the connection's output as the peer decodes it.
    var record: CallRecord { get }

    init(_ options: UInt8, _ cutter: Cutter)

    /// Either makes one call as the program, or passes bytes as the peer.
    mutating func call(_ choices: inout Exercise.Choices)

    /// Ends the input, and checks that nothing is left open.
    mutating func finish()
}

extension CalledConnection {
    /// Runs two connections with the same calls. The second connection receives its input in small pieces. Checks that
    /// both connections report the same events.
    ///
    /// - Parameter flag: A bit to set in the options. It selects one of two connection kinds.
    /// - Returns: The number of events.
    static func run(_ choices: Exercise.Choices, flag: UInt8 = 0) -> Int {
        var choices = choices
        let (options, seed) = (choices.next() & 0x7F | flag, choices.next())
        let whole = record(choices, options, Cutter())
        let pieces = record(choices, options, Cutter(seed: seed))
        if whole != pieces { whole.fail(pieces) }
        return whole.lines.count
    }

    private static func record(_ choices: Exercise.Choices, _ options: UInt8, _ cutter: Cutter) -> CallRecord {
        var choices = choices
        var connection = Self(options, cutter)
        while !choices.isEmpty { connection.call(&choices) }
        connection.finish()
        return connection.record
    }
}

/// A record of a connection's events as text. Pieces of content that follow each other are joined to one event.
struct CallRecord: Equatable {
    private(set) var lines: [String] = []
    private var content: (id: UInt32, bytes: [UInt8])?
    private(set) var hasEnded = false

    mutating func add(_ line: String) {
        precondition(!hasEnded, "an event after the last one")
        flush()
        lines.append(line)
    }

    mutating func add(_ bytes: ArraySlice<UInt8>, of id: UInt32 = 0) {
        precondition(!hasEnded, "content after the last event")
        if content?.id != id { flush() }
        content = (id, (content?.bytes ?? []) + bytes)
    }

    /// Adds the connection's last event.
    mutating func end(_ line: String) {
        add(line)
        hasEnded = true
    }

    private mutating func flush() {
        guard let (id, bytes) = content.take() else { return }
        lines.append("content \(id) \(bytes)")
    }

    /// Prints the first event that differs, and stops the process.
    func fail(_ other: CallRecord) -> Never {
        let place = zip(lines, other.lines).prefix { $0 == $1 }.count
        for lines in [lines, other.lines] { print(lines.dropFirst(max(0, place - 1)).prefix(2)) }
        preconditionFailure("the result depends on how the input is split")
    }

    static func == (one: CallRecord, other: CallRecord) -> Bool { one.lines == other.lines }
}

/// Cuts input bytes into small pieces of random size. If there is no seed, it passes on all bytes as one piece.
struct Cutter {
    private var random: SplitMix64?

    init() {}

    init(seed: UInt8) { random = SplitMix64(seed: UInt64(seed)) }

    /// Returns the pieces of the bytes, in order.
    mutating func pieces(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        var pieces: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(nextCount())
            rest = rest.dropFirst(piece.count)
            pieces.append(piece)
        }
        return pieces
    }

    private mutating func nextCount() -> Int {
        guard var generator = random else { return .max }
        defer { random = generator }
        return generator.chance(oneIn: 2) ? 1 : generator.integer(in: 1...40)
    }
}

/// Content in which each byte depends on its position. A receiver can therefore detect lost or exchanged bytes.
struct NumberedContent {
    private(set) var count = 0

    mutating func next(_ length: Int) -> [UInt8] {
        defer { count += length }
        return (count..<(count + length)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    }

    /// Checks that the next received bytes are undamaged.
    mutating func check(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes {
            precondition(byte == UInt8(truncatingIfNeeded: count &* 7 &+ 1), "content is damaged")
            count += 1
        }
    }
}
