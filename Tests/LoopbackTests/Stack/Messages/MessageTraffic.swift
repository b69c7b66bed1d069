import Causeway
import CausewaySystem
import CausewayTestKit
import Dispatch
import FoundationEssentials

/// Messages with random sizes and contents. A sender and a receiver with equal seeds get equal messages.
struct MessageSequence: Sendable {
    struct Message: Sendable {
        var kind: Int
        var content: Data
    }

    private var random: SplitMix64
    private let longest: Int

    init(seed: UInt64, longest: Int) {
        random = SplitMix64(seed: seed)
        self.longest = longest
    }

    mutating func next() -> Message {
        let count = min(longest, size())
        let start = random.integer(in: 0...(Self.block.count - count))
        return Message(kind: random.integer(in: 0...127), content: Data(Self.block[start..<(start + count)]))
    }

    /// Returns a random message size. Most sizes are small. Some messages are empty or have one byte, and some are
    /// about as large as the buffers.
    private mutating func size() -> Int {
        switch random.integer(in: 0...999) {
        case 0: 65_536
        case 1: random.integer(in: 65_537...300_000)
        case 2...50: 0
        case 51...100: 1
        case 101...160: random.integer(in: 0...20_000)
        default: random.integer(in: 0...1_000)
        }
    }

    private static let block: Data = {
        var random = SplitMix64(seed: 0)
        var block = Data(capacity: 1 << 20)
        while block.count < 1 << 20 { withUnsafeBytes(of: random.next()) { block.append(contentsOf: $0) } }
        return block
    }()
}

/// Sends messages in random pieces. Several send calls are in progress at the same time.
final class MessageSender: Sendable {
    private struct State: Sendable {
        var sequence: MessageSequence
        var random: SplitMix64
        var left: Int
        var current: (rest: Data, context: NWConnection.ContentContext, mayBeCut: Bool)?
        var window = 1
        var asked = 0
        var answered = 0
        /// The number of bytes in datagrams that were sent but not received yet. The test keeps this number low, so
        /// that the receiver's socket buffer has room.
        var inFlight = 0
        var failure: NWError?
    }

    private struct Piece: Sendable {
        var content: Data?
        var context: NWConnection.ContentContext
        var isLast: Bool
    }

    let stack: MessageStack
    private let connection: NWConnection
    private let queue: DispatchQueue
    private let state: LockedValue<State>

    init(_ stack: MessageStack, on connection: NWConnection, _ queue: DispatchQueue, seed: UInt64, count: Int) {
        self.stack = stack
        self.connection = connection
        self.queue = queue
        state = LockedValue(
            State(
                sequence: MessageSequence(seed: seed, longest: stack.longestMessage),
                random: SplitMix64(seed: ~seed), left: count))
    }

    /// Whether every send call has completed.
    var isAnswered: Bool { state.withLock { $0.asked == $0.answered } }
    var failure: NWError? { state.withLock { $0.failure } }

    func begin() { queue.async { self.pump() } }

    /// Records that the peer has received a message.
    func wasReceived(_ count: Int) {
        guard stack.isDatagram else { return }
        state.withLock { $0.inFlight -= Self.cost(count) }
        begin()
    }

    private func pump() {
        while let piece = state.withLock({ nextPiece(&$0) }) {
            connection.send(
                content: piece.content, contentContext: piece.context, isComplete: piece.isLast,
                completion: .contentProcessed { error in
                    self.state.withLock { state in
                        state.answered += 1
                        state.failure = state.failure ?? error
                    }
                    self.pump()
                })
        }
    }

    private func nextPiece(_ state: inout State) -> Piece? {
        guard state.failure == nil, state.asked - state.answered < state.window else { return nil }
        if state.current == nil {
            guard state.left > 0, state.inFlight < 100_000 else { return nil }
            let message = state.sequence.next()
            state.left -= 1
            if stack.isDatagram { state.inFlight += Self.cost(message.content.count) }
            state.current = (message.content, stack.context(kind: message.kind), state.random.chance(oneIn: 2))
        }
        guard var current = state.current else { return nil }
        state.window = state.random.integer(in: 1...32)
        state.asked += 1
        let isWhole = !current.mayBeCut || state.random.chance(oneIn: 3)
        guard !isWhole else {
            state.current = nil
            let isNothing = current.rest.isEmpty && state.random.chance(oneIn: 2)
            return Piece(content: isNothing ? nil : current.rest, context: current.context, isLast: true)
        }
        let first = Data(current.rest.prefix(state.random.integer(in: 0...current.rest.count)))
        current.rest = Data(current.rest.dropFirst(first.count))
        state.current = current
        return Piece(content: first, context: current.context, isLast: false)
    }

    /// Returns the space that a datagram takes in the receiver's buffer, including overhead.
    private static func cost(_ count: Int) -> Int { count + 2_048 }
}

/// Receives messages with random limits, and compares them with the expected messages.
final class MessageReceiver: Sendable {
    enum Outcome: Sendable, Equatable {
        case all
        case end
        case error(NWError)
        case mistake(String)
    }

    private struct State: Sendable {
        var sequence: MessageSequence
        var random: SplitMix64
        var expected: MessageSequence.Message
        var content = Data()
        var received = 0
        var bytes = 0
    }

    private let stack: MessageStack
    private let connection: NWConnection
    private let count: Int
    private let state: LockedValue<State>
    private let whenReceived: @Sendable (Int, Int) -> Void
    let outcome = Mailbox<Outcome>()

    /// - Parameter whenReceived: Called with the number of each message and its length.
    init(
        _ stack: MessageStack, on connection: NWConnection, seed: UInt64, count: Int,
        whenReceived: @escaping @Sendable (Int, Int) -> Void = { _, _ in }
    ) {
        self.stack = stack
        self.connection = connection
        self.count = count
        self.whenReceived = whenReceived
        var sequence = MessageSequence(seed: seed, longest: stack.longestMessage)
        let first = sequence.next()
        state = LockedValue(State(sequence: sequence, random: SplitMix64(seed: seed &* 3), expected: first))
    }

    var bytes: Int { state.withLock { $0.bytes } }

    func ask() {
        let bounds = state.withLock { state -> (Int, Int)? in
            guard !state.random.chance(oneIn: 2) else { return nil }
            let minimum = state.random.integer(in: 0...(state.random.chance(oneIn: 3) ? 20_000 : 100))
            return (minimum, minimum + state.random.integer(in: 0...5_000))
        }
        if let (minimum, maximum) = bounds {
            connection.receive(minimumIncompleteLength: minimum, maximumLength: max(1, maximum)) {
                self.took($0, $1, $2, $3)
            }
        } else {
            connection.receiveMessage { self.took($0, $1, $2, $3) }
        }
    }

    private func took(_ data: Data?, _ context: NWConnection.ContentContext?, _ isComplete: Bool, _ error: NWError?) {
        if let error { return outcome.put(.error(error)) }
        if context?.isFinal == true && data == nil || stack.isGoodbye(context) { return outcome.put(.end) }
        let (verdict, finished) = state.withLock { state in check(&state, data, context, isComplete) }
        if let finished { whenReceived(finished.number, finished.length) }
        if let verdict { outcome.put(verdict) } else { ask() }
    }

    private func check(
        _ state: inout State, _ data: Data?, _ context: NWConnection.ContentContext?, _ isComplete: Bool
    ) -> (Outcome?, (number: Int, length: Int)?) {
        let number = state.received
        guard stack.isOfKind(state.expected.kind, context) else { return (.mistake("message \(number): kind"), nil) }
        state.content += data ?? Data()
        let (content, expected) = (state.content, state.expected.content)
        guard isComplete else {
            let isPrefix = content.count <= expected.count && expected.prefix(content.count) == content
            return (isPrefix ? nil : .mistake("message \(number): a part of \(content.count) bytes"), nil)
        }
        guard content == expected else {
            return (.mistake("message \(number): \(content.count) bytes for \(expected.count)"), nil)
        }
        state.received += 1
        state.bytes += content.count
        state.content = Data()
        guard state.received < count else { return (.all, (number, content.count)) }
        state.expected = state.sequence.next()
        return (nil, (number, content.count))
    }
}
