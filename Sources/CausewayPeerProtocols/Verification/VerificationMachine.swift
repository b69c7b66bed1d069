internal import CausewayTypes

/// Compares verification codes with a member. One side commits to a nonce before it learns the other side's nonce, so
/// that neither side can choose the code.
///
/// A man in the middle succeeds with a probability of 10^-6. It has only one attempt, because the first failure ends
/// this state machine. After a success the codes can be compared again.
struct VerificationMachine: UntimedMachine, Sendable {
    static let nonceByteCount = 16

    /// The inputs from which the verification code is computed. If an attacker in the middle terminates TLS, each side
    /// has a different exporter value, so the codes differ.
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
        case verified
        case failed
    }

    enum Action: Equatable, Sendable {
        case send(PeerFrame)
        case report(VerificationEvent)
    }

    private let binding: Binding
    private var state = State.idle

    /// Whether this side and the member are exchanging nonces and codes. If so, the program must be informed when the
    /// exchange ends.
    var isActive: Bool {
        switch state {
        case .committed, .answered, .comparing: true
        case .idle, .verified, .failed: false
        }
    }

    var hasEnded: Bool { if case .failed = state { true } else { false } }

    init(_ binding: Binding) { self.binding = binding }

    /// Begins a verification with the peer, unless one is in progress.
    mutating func start(nonce: [UInt8]) -> [Action] {
        switch state {
        case .idle, .verified:
            state = .committed(nonce: nonce)
            return [.send(PeerFrame(.sasCommit, fields: PeerFields().with(1, PeerDigest.sha256(nonce))))]
        case .committed, .answered, .comparing, .failed: return []
        }
    }

    /// Records whether the codes match, after the user has compared them.
    mutating func confirm(matches: Bool) -> [Action] {
        guard case .comparing(nil, let other) = state else { return [] }
        state = .comparing(own: matches, other: other)
        return [.send(PeerFrame(.sasResult, fields: PeerFields().with(1, UInt8(matches ? 1 : 0))))] + outcome()
    }

    /// - Parameter nonce: 16 random bytes, used if the frame begins an exchange.
    mutating func received(_ frame: PeerFrame, nonce: [UInt8]) throws(PeerFields.Malformed) -> [Action] {
        let value = try PeerFields(frame.payload)[1] ?? []
        switch (state, frame.type) {
        case (.idle, .sasCommit), (.verified, .sasCommit): return answer(value, nonce)
        case (.committed, .sasCommit):
            // Both peers began an exchange at the same time. Only one exchange continues: the one from the peer with
            // the smaller key.
            return binding.own < binding.other ? [] : answer(value, nonce)
        case (.committed(let own), .sasNonce):
            guard value.count == Self.nonceByteCount else { return fail() }
            return [.send(PeerFrame(.sasReveal, fields: PeerFields().with(1, own)))]
                + compare(first: binding.own, second: binding.other, own, value)
        case (.answered(let own, let commitment), .sasReveal):
            guard value.count == Self.nonceByteCount, PeerDigest.areEqual(PeerDigest.sha256(value), commitment) else {
                return fail()
            }
            return compare(first: binding.other, second: binding.own, value, own)
        case (.comparing(let own, nil), .sasResult):
            state = .comparing(own: own, other: value == [1])
            return outcome()
        case (.verified, _), (.failed, _): return []
        case (.idle, _), (.committed, _), (.answered, _), (.comparing, _): return fail()
        }
    }

    private mutating func answer(_ commitment: [UInt8], _ nonce: [UInt8]) -> [Action] {
        guard commitment.count == 32 else { return fail() }
        state = .answered(nonce: nonce, commitment: commitment)
        return [.send(PeerFrame(.sasNonce, fields: PeerFields().with(1, nonce)))]
    }

    private mutating func compare(first: PeerKey, second: PeerKey, _ firstNonce: [UInt8], _ secondNonce: [UInt8])
        -> [Action]
    {
        state = .comparing(own: nil, other: nil)
        let code = ShortCode(
            exporter: binding.exporter, first: first, second: second, firstNonce: firstNonce, secondNonce: secondNonce)
        return [.report(.compare(code))]
    }

    private mutating func outcome() -> [Action] {
        guard case .comparing(let own, let other) = state else { return [] }
        if own == false || other == false { return fail() }
        guard own == true, other == true else { return [] }
        state = .verified
        return [.report(.verified)]
    }

    private mutating func fail() -> [Action] {
        state = .failed
        return [.report(.failed)]
    }
}

extension ShortCode {
    /// - Parameters:
    ///   - exporter: The first link's TLS exporter value.
    ///   - first: The peer that sent its nonce's digest before it got the other peer's nonce.
    ///   - second: The other peer.
    ///   - firstNonce: The nonce of `first`.
    ///   - secondNonce: The nonce of `second`.
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
