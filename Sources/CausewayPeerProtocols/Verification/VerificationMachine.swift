/// Compares short authentication strings with a member. One side commits to a nonce before it learns the other's, so
/// that neither can choose the code.
///
/// A man in the middle has one attempt, which succeeds with probability 10^-6.
struct VerificationMachine: Sendable {
    static let nonceByteCount = 16

    /// Inputs to the code. The exporter values differ if a man in the middle terminates TLS.
    struct Binding: Sendable {
        var exporter: [UInt8]
        var own: PeerKey
        var other: PeerKey
    }

    private enum State {
        case idle
        case committed(nonce: [UInt8])
        case answered(nonce: [UInt8], commitment: [UInt8])
        case comparing(own: Bool?, other: Bool?)
        case finished
    }

    enum Step: Sendable {
        case send(PeerFrame)
        case report(VerificationEvent)
    }

    private let binding: Binding
    private var state = State.idle

    /// Whether an exchange is in progress, so that a report must follow.
    var isActive: Bool {
        switch state {
        case .committed, .answered, .comparing: true
        case .idle, .finished: false
        }
    }

    init(_ binding: Binding) { self.binding = binding }

    /// Starts an exchange, unless one is in progress.
    mutating func start(nonce: [UInt8]) -> [Step] {
        switch state {
        case .idle, .finished:
            state = .committed(nonce: nonce)
            return [.send(PeerFrame(.sasCommit, fields: PeerFields().with(1, PeerDigest.sha256(nonce))))]
        case .committed, .answered, .comparing: return []
        }
    }

    /// Takes the user's comparison, and sends it to the peer.
    mutating func confirm(matches: Bool) -> [Step] {
        guard case .comparing(nil, let other) = state else { return [] }
        state = .comparing(own: matches, other: other)
        return [.send(PeerFrame(.sasResult, fields: PeerFields().with(1, UInt8(matches ? 1 : 0))))] + outcome()
    }

    /// Handles an SAS frame.
    ///
    /// - Parameters:
    ///   - frame: The frame.
    ///   - nonce: 16 random bytes, used if the frame starts an exchange.
    mutating func received(_ frame: PeerFrame, nonce: [UInt8]) throws(PeerFields.Malformed) -> [Step] {
        let value = try PeerFields(frame.payload)[1] ?? []
        switch (frame.type, state) {
        case (.sasCommit, .idle), (.sasCommit, .finished): return answer(value, nonce)
        case (.sasCommit, .committed):
            // Both sides started: the smaller peer's exchange continues.
            return binding.own < binding.other ? [] : answer(value, nonce)
        case (.sasNonce, .committed(let own)):
            guard value.count == Self.nonceByteCount else { return fail() }
            return [.send(PeerFrame(.sasReveal, fields: PeerFields().with(1, own)))]
                + compare(first: binding.own, second: binding.other, own, value)
        case (.sasReveal, .answered(let own, let commitment)):
            guard value.count == Self.nonceByteCount, PeerDigest.areEqual(PeerDigest.sha256(value), commitment) else {
                return fail()
            }
            return compare(first: binding.other, second: binding.own, value, own)
        case (.sasResult, .comparing(let own, nil)):
            state = .comparing(own: own, other: value == [1])
            return outcome()
        case (_, .finished): return []
        default: return fail()
        }
    }

    private mutating func answer(_ commitment: [UInt8], _ nonce: [UInt8]) -> [Step] {
        guard commitment.count == 32 else { return fail() }
        state = .answered(nonce: nonce, commitment: commitment)
        return [.send(PeerFrame(.sasNonce, fields: PeerFields().with(1, nonce)))]
    }

    private mutating func compare(first: PeerKey, second: PeerKey, _ firstNonce: [UInt8], _ secondNonce: [UInt8])
        -> [Step]
    {
        state = .comparing(own: nil, other: nil)
        let code = ShortCode(
            exporter: binding.exporter, first: first, second: second, firstNonce: firstNonce, secondNonce: secondNonce)
        return [.report(.compare(code))]
    }

    private mutating func outcome() -> [Step] {
        guard case .comparing(let own, let other) = state else { return [] }
        if own == false || other == false { return fail() }
        guard own == true, other == true else { return [] }
        state = .finished
        return [.report(.verified)]
    }

    private mutating func fail() -> [Step] {
        state = .finished
        return [.report(.failed)]
    }
}

extension ShortCode {
    /// - Parameters:
    ///   - exporter: The first link's TLS exporter value.
    ///   - first: The peer that committed.
    ///   - second: The other peer.
    ///   - firstNonce: The committed nonce.
    ///   - secondNonce: The other peer's nonce.
    package init(exporter: [UInt8], first: PeerKey, second: PeerKey, firstNonce: [UInt8], secondNonce: [UInt8]) {
        let input = Array("cw-peers/1 sas".utf8) + first.digestBytes + second.digestBytes + firstNonce + secondNonce
        let code = PeerDigest.hmac(key: exporter, input)
        let number = String(code[0..<8].bigEndianInteger % 1_000_000)
        digits = String(repeating: "0", count: 6 - number.count) + number
        words = code[8..<12].map { Self.vocabulary[Int($0 & 31)] }
    }

    /// 32 short words that sound different.
    package static let vocabulary = [
        "apple", "bread", "cloud", "dance", "eagle", "flute", "grape", "house", "ivory", "jelly", "kite", "lemon",
        "mango",
        "night", "ocean", "piano", "queen", "river", "snow", "tiger", "uncle", "violin", "wagon", "yellow", "zebra",
        "amber",
        "bottle", "copper", "desert", "engine", "forest", "garden",
    ]
}
