/// A domain name: labels with 1 to 63 bytes each, from the leaf to the root (RFC 1035 §3.1).
///
/// Labels are bytes, not text: mDNS names hold any UTF-8, including dots (RFC 6763 §4.1.1). Names keep their case.
/// Comparison ignores case for ASCII letters only (RFC 4343 §3, RFC 6762 §16).
package struct DNSName: Sendable {
    /// The maximum name size in bytes, without the root label (RFC 6762 Appendix C). RFC 1035 §3.1 permits one byte
    /// less.
    package static let maximumByteCount = 255
    package static let maximumLabelByteCount = 63

    package static let root = DNSName(wire: [0])

    /// The wire format: each label after its length byte, and a final 0 for the root.
    package private(set) var wire: [UInt8]

    /// Creates a name from its wire format.
    ///
    /// - Precondition: `wire` is a valid name without compression.
    init(wire: [UInt8]) { self.wire = wire }

    /// Joins `labels` to a name. Returns `nil` if a label is empty or too long, or if the name is too long.
    package init?(labels: some Sequence<some Collection<UInt8>>) {
        wire = []
        for label in labels {
            guard append(label) else { return nil }
        }
        wire.append(0)
    }

    /// Joins `label` and `domain` to a name. Returns `nil` if the name is too long.
    package init?(_ label: some Collection<UInt8>, in domain: DNSName) {
        wire = []
        guard append(label), wire.count + domain.wire.count - 1 <= Self.maximumByteCount else { return nil }
        wire += domain.wire
    }

    /// Joins `label`, encoded as UTF-8, and `domain` to a name. Returns `nil` if the name is too long.
    package init?(_ label: String, in domain: DNSName) { self.init(Array(label.utf8), in: domain) }

    private mutating func append(_ label: some Collection<UInt8>) -> Bool {
        let count = label.count
        guard (1...Self.maximumLabelByteCount).contains(count), wire.count + 1 + count <= Self.maximumByteCount else {
            return false
        }
        wire.append(UInt8(count))
        wire += label
        return true
    }

    package var isRoot: Bool { wire.count == 1 }

    /// The labels from the leaf to the root, without the root label.
    package var labels: Labels { Labels(wire: wire[...]) }

    package var firstLabel: ArraySlice<UInt8>? { labels.first { _ in true } }

    /// Returns the name without its first `count` labels, or the root if it has fewer labels.
    package func droppingFirst(_ count: Int = 1) -> DNSName {
        var rest = wire[...]
        for _ in 0..<count {
            guard let length = rest.first, length > 0 else { break }
            rest = rest.dropFirst(1 + Int(length))
        }
        return DNSName(wire: Array(rest))
    }

    /// Returns this name followed by all labels of `domain`, or `nil` if the result is too long.
    package func appending(_ domain: DNSName) -> DNSName? {
        guard wire.count + domain.wire.count - 2 <= Self.maximumByteCount else { return nil }
        return DNSName(wire: wire.dropLast() + domain.wire)
    }

    /// Whether the name is `domain` or a subdomain of it.
    package func isWithin(_ domain: DNSName) -> Bool {
        var rest = wire[...]
        while rest.count > domain.wire.count, let length = rest.first { rest = rest.dropFirst(1 + Int(length)) }
        return rest.count == domain.wire.count && zip(rest, domain.wire).allSatisfy { Self.fold($0) == Self.fold($1) }
    }

    /// Converts an ASCII capital letter to lower case. The length bytes in a name stay unchanged, because they are
    /// below 64.
    fileprivate static func fold(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// A name's labels in order.
    package struct Labels: Sequence, IteratorProtocol, Sendable {
        fileprivate var wire: ArraySlice<UInt8>

        package mutating func next() -> ArraySlice<UInt8>? {
            guard let length = wire.first, length > 0 else { return nil }
            let label = wire.dropFirst().prefix(Int(length))
            wire = wire.dropFirst(1 + Int(length))
            return label
        }
    }
}

extension DNSName: Hashable {
    package static func == (left: DNSName, right: DNSName) -> Bool {
        guard left.wire.count == right.wire.count else { return false }
        for index in left.wire.indices where left.wire[index] != right.wire[index] {
            guard fold(left.wire[index]) == fold(right.wire[index]) else { return false }
        }
        return true
    }

    package func hash(into hasher: inout Hasher) {
        // Hash eight bytes per call, because each hasher call has a fixed cost.
        var word: UInt64 = 0
        for index in wire.indices {
            word = word << 8 | UInt64(Self.fold(wire[index]))
            if index & 7 == 7 { hasher.combine(word) }
        }
        hasher.combine(word)
    }
}

// MARK: - Text

extension DNSName: CustomStringConvertible, ExpressibleByStringLiteral {
    /// Parses the presentation format: labels separated by dots, in which `\.` means a dot, `\\` a backslash, and
    /// `\DDD` any byte (RFC 1035 §5.1). A trailing dot is optional. Returns `nil` if a label is empty or too long, or
    /// if an escape is malformed.
    package init?(_ text: some StringProtocol) {
        var bytes = Array(text.utf8)[...]
        wire = []
        if bytes.elementsEqual([UInt8(ascii: ".")]) { bytes = [] } else if bytes.isEmpty { return nil }
        var label: [UInt8] = []
        while let byte = bytes.popFirst() {
            switch byte {
            case UInt8(ascii: "."):
                guard append(label) else { return nil }
                label = []
            case UInt8(ascii: "\\"):
                guard let escaped = Self.unescape(&bytes) else { return nil }
                label.append(escaped)
            default:
                label.append(byte)
            }
        }
        if !label.isEmpty {
            guard append(label) else { return nil }
        }
        wire.append(0)
    }

    /// Creates a name from a string literal; traps if the literal is not a domain name.
    package init(stringLiteral text: String) {
        guard let name = DNSName(text) else { preconditionFailure("\(text) is not a domain name") }
        self = name
    }

    private static func unescape(_ bytes: inout ArraySlice<UInt8>) -> UInt8? {
        guard let first = bytes.popFirst() else { return nil }
        guard let hundreds = digit(first) else { return first }
        guard let tens = bytes.popFirst().flatMap(digit), let ones = bytes.popFirst().flatMap(digit) else {
            return nil
        }
        return UInt8(exactly: hundreds * 100 + tens * 10 + ones)
    }

    private static func digit(_ byte: UInt8) -> Int? {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) ? Int(byte - UInt8(ascii: "0")) : nil
    }

    /// The name in presentation format, with a trailing dot. Control characters, dots and backslashes inside a label
    /// are escaped. If a label is not valid UTF-8, its non-ASCII bytes are also escaped.
    package var description: String {
        if isRoot { return "." }
        return plainDescription ?? labels.map { Self.escaped($0) + "." }.joined()
    }

    /// The presentation format if the name is plain ASCII and needs no escapes, which is the common case; otherwise
    /// `nil`.
    private var plainDescription: String? {
        var bytes = wire.dropFirst()
        var next = bytes.startIndex + Int(wire[0])
        for index in bytes.indices {
            if index == next {
                next += 1 + Int(wire[index])
                bytes[index] = UInt8(ascii: ".")
                continue
            }
            switch wire[index] {
            case UInt8(ascii: "."), UInt8(ascii: "\\"), 0..<0x20, 0x7F...: return nil
            default: continue
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns one label in presentation format.
    package static func escaped(_ label: some Sequence<UInt8>) -> String {
        let bytes = Array(label)
        let isText = String(validating: bytes, as: UTF8.self) != nil
        var result: [UInt8] = []
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "."), UInt8(ascii: "\\"): result += [UInt8(ascii: "\\"), byte]
            case 0..<0x20, 0x7F: result += escape(byte)
            case 0x80...: result += isText ? [byte] : escape(byte)
            default: result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        let zero = UInt8(ascii: "0")
        return [UInt8(ascii: "\\"), zero + byte / 100, zero + byte / 10 % 10, zero + byte % 10]
    }
}
