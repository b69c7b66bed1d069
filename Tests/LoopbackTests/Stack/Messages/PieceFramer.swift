import Causeway
import CausewaySystem
import CausewayTestKit
import FoundationEssentials

/// A framer for messages that are sent in pieces.
///
/// Each piece has a four-byte header. It states whether the piece is the last one in its message, the message's kind (7
/// bits), and the piece's length (24 bits). For each piece, a seeded generator selects one of the functions that the
/// framer interface offers.
final class PieceFramer: NWProtocolFramerImplementation {
    static let definition = NWProtocolFramer.Definition(implementation: PieceFramer.self)
    static var label: String { "pieces" }
    /// The number of framers that exist. A framer that outlives its connection is a memory leak.
    static let living = LockedValue(0)

    private struct Piece {
        var message: NWProtocolFramer.Message
        var left: Int
        var isLast: Bool
    }

    private var random: SplitMix64
    /// Whether this side still waits for the peer's greeting. As a handshake, both sides first send "HI".
    private var awaitsGreeting: Bool
    private var piece: Piece?

    init(framer: NWProtocolFramer.Instance) {
        random = SplitMix64(seed: framer.options["seed"] as? UInt64 ?? 1)
        awaitsGreeting = framer.options["greets"] as? Bool ?? false
        Self.living.withLock { $0 += 1 }
    }

    deinit { Self.living.withLock { $0 -= 1 } }

    static func options(greets: Bool, seed: UInt64) -> NWProtocolFramer.Options {
        let options = NWProtocolFramer.Options(definition: definition)
        (options["greets"], options["seed"]) = (greets, seed)
        return options
    }

    func start(framer: NWProtocolFramer.Instance) -> NWProtocolFramer.StartResult {
        guard awaitsGreeting else { return .ready }
        framer.writeOutput(data: Data("HI".utf8))
        return .willMarkReady
    }

    func wakeup(framer: NWProtocolFramer.Instance) {}
    func stop(framer: NWProtocolFramer.Instance) -> Bool { true }
    func cleanup(framer: NWProtocolFramer.Instance) {}

    // MARK: Input

    func handleInput(framer: NWProtocolFramer.Instance) -> Int {
        if awaitsGreeting {
            guard takeGreeting(framer) else { return 2 }
            awaitsGreeting = false
            framer.markReady()
        }
        while true {
            guard let next = piece ?? takeHeader(framer) else { return 4 }
            piece = nil
            if random.chance(oneIn: 2) {
                let isThere = framer.deliverInputNoCopy(
                    length: next.left, message: next.message, isComplete: next.isLast)
                if !isThere { return 0 }
            } else if let wanted = deliverCopies(next, framer) {
                return wanted
            }
        }
    }

    private func takeGreeting(_ framer: NWProtocolFramer.Instance) -> Bool {
        var isGreeting = false
        _ = framer.parseInput(minimumIncompleteLength: 2, maximumLength: 2) { buffer, _ in
            guard let buffer, buffer.elementsEqual("HI".utf8) else { return 0 }
            isGreeting = true
            return 2
        }
        return isGreeting
    }

    private func takeHeader(_ framer: NWProtocolFramer.Instance) -> Piece? {
        var header: UInt32?
        _ = framer.parseInput(minimumIncompleteLength: 4, maximumLength: random.integer(in: 4...64)) { buffer, _ in
            guard let buffer, buffer.count >= 4 else { return 0 }
            header = UInt32(bigEndian: buffer.loadUnaligned(as: UInt32.self))
            return 4
        }
        return header.map { header in
            let message = NWProtocolFramer.Message(instance: framer)
            message["kind"] = Int(header >> 24 & 0x7f)
            return Piece(message: message, left: Int(header & 0xff_ffff), isLast: header >> 31 == 1)
        }
    }

    /// Delivers a piece of a message in copies of random length. If the piece is incomplete, returns the number of
    /// missing bytes.
    private func deliverCopies(_ whole: Piece, _ framer: NWProtocolFramer.Instance) -> Int? {
        var rest = whole
        if rest.left == 0 { framer.deliverInput(data: Data(), message: rest.message, isComplete: rest.isLast) }
        while rest.left > 0 {
            var copy = Data()
            let limit = min(rest.left, random.integer(in: 1...20_000))
            _ = framer.parseInput(minimumIncompleteLength: 1, maximumLength: limit) { buffer, _ in
                copy = buffer.map { Data($0) } ?? Data()
                return copy.count
            }
            if copy.isEmpty {
                piece = rest
                return random.integer(in: 0...min(rest.left, 5_000))
            }
            rest.left -= copy.count
            framer.deliverInput(data: copy, message: rest.message, isComplete: rest.isLast && rest.left == 0)
        }
        return nil
    }

    // MARK: Output

    func handleOutput(
        framer: NWProtocolFramer.Instance, message: NWProtocolFramer.Message, messageLength: Int, isComplete: Bool
    ) {
        let kind = message["kind"] as? Int ?? 0
        let header = UInt32(messageLength) | UInt32(kind) << 24 | (isComplete ? 1 << 31 : 0)
        framer.writeOutput(data: withUnsafeBytes(of: header.bigEndian) { Data($0) })
        var left = messageLength
        while left > 0 {
            let count = random.chance(oneIn: 2) ? left : random.integer(in: 1...left)
            if random.chance(oneIn: 2) {
                do { try framer.writeOutputNoCopy(length: count) } catch { return framer.markFailed(error: nil) }
            } else {
                copyOutput(count, framer)
            }
            left -= count
        }
    }

    private func copyOutput(_ count: Int, _ framer: NWProtocolFramer.Instance) {
        _ = framer.parseOutput(minimumIncompleteLength: count, maximumLength: count) { buffer, _ in
            guard let buffer else { return 0 }
            framer.writeOutput(data: Data(buffer))
            return buffer.count
        }
    }
}
