public import CausewayPeers
internal import Distributed

/// The identity of a distributed actor: the peer where it lives, and its number there.
///
/// The number is chosen at random when the actor is made. A peer that does not know it cannot call the actor.
///
/// Encoded, for example as an argument, an identity is a text of 66 characters. See ``PeerActorSystem`` for the effect of encoding.
public struct PeerActorID: Hashable, Sendable {
    /// The peer where the actor lives. Its name is empty in an identity that was decoded; names do not count in comparisons.
    public let peer: PeerIdentity
    /// The number of the actor.
    public let number: UInt64

    init(peer: PeerIdentity, number: UInt64) {
        self.peer = peer
        self.number = number
    }
}

extension PeerActorID: CustomStringConvertible {
    /// Peer number, key digest and actor number in hexadecimal digits.
    public var description: String {
        let digest = peer.fingerprint.map { Self.digits($0) }.joined()
        return "\(Self.digits(peer.id)).\(digest).\(Self.digits(number))"
    }

    /// Parses a ``description``.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
        guard text.utf8.count == 66, parts.count == 3, let id = Self.number(parts[0]), parts[1].count == 32,
            let number = Self.number(parts[2])
        else { return nil }
        guard let high = Self.number(Array(parts[1].prefix(16))), let low = Self.number(Array(parts[1].suffix(16)))
        else { return nil }
        let fingerprint = [high, low].flatMap { half in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: half >> $0) }
        }
        self.init(peer: PeerIdentity(id: id, fingerprint: fingerprint, name: ""), number: number)
    }

    private static func digits(_ value: some FixedWidthInteger) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: value.bitWidth / 4 - digits.utf8.count) + digits
    }

    private static func number(_ digits: [UInt8]) -> UInt64? {
        guard digits.count == 16 else { return nil }
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: value = value << 4 | UInt64(digit - 0x30)
            case 0x61...0x66: value = value << 4 | UInt64(digit - 0x61 + 10)
            default: return nil
            }
        }
        return value
    }
}

extension PeerActorID: Codable {
    /// Encodes the identity. An encoder whose `userInfo` has the system of the actor under `actorSystemKey` sends the actor by reference:
    /// peers may call it afterwards.
    public func encode(to encoder: any Encoder) throws {
        (encoder.userInfo[.actorSystemKey] as? PeerActorSystem)?.expose(self)
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Decodes an identity.
    ///
    /// - Throws: `DecodingError` for a malformed one, and for a local actor that was neither published nor sent by reference.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = PeerActorID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "malformed identity of an actor")
        }
        if let system = decoder.userInfo[.actorSystemKey] as? PeerActorSystem, !system.mayRefer(to: id) {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown actor")
        }
        self = id
    }
}
