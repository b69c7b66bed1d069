public import CausewayPeers
internal import Distributed

/// A distributed actor's identity: its peer, and its number at that peer.
///
/// The number is random, chosen when the actor is created. Only peers that know it can call the actor.
///
/// Encoded, for example as an argument, an identity is a string with 66 characters. See ``PeerActorSystem`` for the effect of encoding.
public struct PeerActorID: Hashable, Sendable {
    /// The actor's peer. Its name is empty in a decoded identity; names are ignored in comparisons.
    public let peer: PeerIdentity
    /// The actor's number.
    public let number: UInt64

    init(peer: PeerIdentity, number: UInt64) {
        self.peer = peer
        self.number = number
    }
}

extension PeerActorID: CustomStringConvertible {
    /// The peer ID, the key digest and the actor number, in hexadecimal digits and separated by dots.
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
    /// Encodes the actor's identity.
    ///
    /// The encoder's `userInfo` can contain the actor's system under `actorSystemKey`. In that case, this method sends
    /// the actor by reference, so peers may call the actor afterwards.
    public func encode(to encoder: any Encoder) throws {
        (encoder.userInfo[.actorSystemKey] as? PeerActorSystem)?.expose(self)
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }

    /// Decodes an identity.
    ///
    /// - Throws: `DecodingError` for a malformed identity, and for a local actor that was neither published, shared nor sent by reference.
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
