import CausewayTypes
import CausewayWire

/// Encodes packets as JSON, one object per line, for programs.
///
/// `layers` has one object per header, outermost first, with the protocol name in `layer`. The headers of the innermost
/// encapsulation level also appear as members beside `layers`: `ethernet`, `vlan`, `arp`, `ipv4`, `ipv6`, `tcp`, `udp`,
/// `icmp`. The outer IP and transport headers of a tunnelled packet appear only in `layers`. `issues` lists truncated
/// and invalid parts, and each checksum has a status. Times are exact decimal seconds, as a string.
public struct PacketJSON: Sendable {
    var out = TextBuffer()
    var needsComma = false
    /// The quoted link type name for the latest packet. The next packet usually has the same link type.
    private var linkName: (type: LinkType, text: TextBuffer)?

    private var initials: QUICInitials?

    /// Creates an encoder.
    ///
    /// - Parameter initialCipher: Decrypts the first packets of QUIC connections, on any port. If a packet completes
    ///   the ClientHello, the object for this packet has the members `tlsServerName` and `tlsProtocols`. Without a
    ///   cipher, objects for QUIC packets omit both members.
    public init(initialCipher: QUICInitialCipher? = nil) {
        initials = initialCipher.map { QUICInitials($0) }
    }

    /// Returns the object for a packet, followed by a line break.
    public mutating func line(
        _ packet: CapturedPacket, _ bytes: borrowing ByteView, checksumOffloaded: Bool = false
    ) -> [UInt8] {
        write(packet, bytes, checksumOffloaded)
        return out.bytes
    }

    /// Appends the object for a packet to `buffer`. Allocates only when `buffer` grows.
    package mutating func append(_ packet: CapturedPacket, _ bytes: borrowing ByteView, to buffer: inout [UInt8]) {
        write(packet, bytes, false)
        out.append(to: &buffer)
    }

    private mutating func write(_ packet: CapturedPacket, _ bytes: borrowing ByteView, _ checksumOffloaded: Bool) {
        out.removeAll()
        needsComma = false
        let view = Packet(bytes.from(0), linkType: packet.linkType, originalCount: packet.originalCount)
        out.put("{")
        time(packet.time)
        number("length", packet.originalCount)
        number("captured", bytes.count)
        key("link")
        name(of: packet.linkType)
        number("interface", packet.interface)
        layers(view)
        issues(view.issues)
        let sums = view.checksums(offloaded: checksumOffloaded)
        if sums.network != .notPresent { word("networkChecksum", sums.network.word) }
        if sums.transport != .notPresent { word("transportChecksum", sums.transport.word) }
        number("payload", view.layers.payloadOriginalCount)
        if let hello = view.clientHello ?? quicHello(view) { clientHello(hello) }
        domainNames(view)
        out.put("}\n")
    }

    private mutating func time(_ time: CaptureTime) {
        key("time", "\"")
        out.decimal(time.seconds)
        out.put(".")
        out.decimal(time.nanoseconds, width: 9, padding: 0x30)
        out.put("\"")
    }

    private mutating func domainNames(_ packet: borrowing Packet) {
        guard let message = packet.dns else { return }
        begin("dns")
        number("id", message.id)
        flag("response", message.flags.contains(.isResponse))
        number("code", message.responseCode.rawValue)
        key("questions")
        out.put("[")
        for (index, question) in message.questions.enumerated() {
            if index > 0 { out.put(",") }
            string("\(question.name)")
        }
        out.put("]")
        needsComma = true
        number("answers", message.answers.count)
        end()
    }

    /// Returns the TLS ClientHello if this QUIC datagram contains its last missing part.
    private mutating func quicHello(_ packet: borrowing Packet) -> ClientHello? {
        guard initials != nil, let udp = packet.udp else { return nil }
        var flow = QUICInitials.Flow(sourcePort: udp.sourcePort, destinationPort: udp.destinationPort)
        if let header = packet.ipv4 {
            (flow.sourceLow, flow.destinationLow) = (UInt64(header.source.bits), UInt64(header.destination.bits))
        } else if let header = packet.ipv6 {
            (flow.sourceHigh, flow.sourceLow) = (header.source.high, header.source.low)
            (flow.destinationHigh, flow.destinationLow) = (header.destination.high, header.destination.low)
        }
        return initials?.open(packet.payload, flow)?.hello
    }

    private mutating func clientHello(_ hello: ClientHello) {
        if let name = hello.serverName { text("tlsServerName", name) }
        guard !hello.protocols.isEmpty else { return }
        key("tlsProtocols", "[")
        for (index, name) in hello.protocols.enumerated() {
            if index > 0 { out.put(",") }
            string(name)
        }
        out.put("]")
    }

    private mutating func issues(_ issues: PacketLayers.Issues) {
        guard !issues.isEmpty else { return }
        let names: [(PacketLayers.Issues, StaticString)] = [
            (.cutOff, "cutOff"), (.badVersion, "badVersion"), (.badHeaderLength, "badHeaderLength"),
            (.badLength, "badLength"),
            (.tooManyLayers, "tooManyLayers"), (.unknownProtocol, "unknownProtocol"), (.laterFragment, "laterFragment"),
        ]
        key("issues")
        out.put("[")
        var isFirst = true
        for (issue, name) in names where issues.contains(issue) {
            if !isFirst { out.put(",") }
            isFirst = false
            out.put("\"")
            out.put(name)
            out.put("\"")
        }
        out.put("]")
        needsComma = true
    }

    @inline(__always)
    mutating func key(_ name: StaticString, _ opening: StaticString = "") {
        out.key(name, afterComma: needsComma, opening)
        needsComma = true
    }
    @inline(__always)
    mutating func begin(_ name: StaticString) {
        key(name, "{")
        needsComma = false
    }
    mutating func end() {
        out.put("}")
        needsComma = true
    }
    @inline(__always)
    mutating func number<T: BinaryInteger>(_ name: StaticString, _ value: T) {
        key(name)
        out.decimal(value)
    }
    @inline(__always)
    mutating func flag(_ name: StaticString, _ value: Bool) {
        if value { key(name, "true") } else { key(name, "false") }
    }
    /// Writes a JSON member. The value must contain no characters that need escapes.
    mutating func word(_ name: StaticString, _ value: StaticString) {
        key(name)
        quoted(value)
    }
    mutating func quoted(_ value: StaticString) {
        out.put("\"")
        out.put(value)
        out.put("\"")
    }
    @inline(__always)
    mutating func hardware(_ name: StaticString, _ address: MACAddress) {
        key(name, "\"")
        out.mac(address.bits)
        out.put("\"")
    }
    @inline(__always)
    mutating func address(_ name: StaticString, _ address: IPv4Address) {
        key(name, "\"")
        out.ipv4(address.bits)
        out.put("\"")
    }
    @inline(__always)
    mutating func address(_ name: StaticString, _ address: IPv6Address) {
        key(name, "\"")
        out.ipv6(high: address.high, low: address.low)
        out.put("\"")
    }
    private mutating func name(of type: LinkType) {
        if let known = linkName, known.type == type { return out.put(known.text) }
        var text = TextBuffer()
        text.json(type.name)
        linkName = (type, text)
        out.put(text)
    }
    mutating func text(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }
    mutating func string(_ value: String) { out.json(value) }
}

extension TCPHeader.Flags {
    /// The letters that capture tools print: `S` for SYN, `.` for ACK.
    public var letters: String {
        var text = TextBuffer()
        text.put(self)
        return text.string
    }
}

/// Bytes that the JSON output escapes: those that a JSON string requires (RFC 8259 §7), and the C1 control characters,
/// which begin with one lead byte in UTF-8.
private enum JSONByte {
    static let space: UInt8 = 0x20
    static let quote: UInt8 = 0x22
    static let backslash: UInt8 = 0x5C
    static let delete: UInt8 = 0x7F
    static let controlLead: UInt8 = 0xC2
    static let lastControl: UInt8 = 0x9F
}

extension TextBuffer {
    /// Appends a quoted string (RFC 8259 §7).
    mutating func json(_ value: String) {
        put("\"")
        var isLead = false
        for byte in value.utf8 {
            // Escape the C1 control characters too, because terminals interpret them.
            let wasLead = isLead
            isLead = byte == JSONByte.controlLead
            if isLead { continue }
            if wasLead, byte <= JSONByte.lastControl {
                put("\\u")
                hex(byte, width: 4)
                continue
            }
            if wasLead { put(byte: JSONByte.controlLead) }
            switch byte {
            case JSONByte.quote, JSONByte.backslash:
                put("\\")
                put(byte: byte)
            case 0..<JSONByte.space, JSONByte.delete:
                put("\\u")
                hex(byte, width: 4)
            default: put(byte: byte)
            }
        }
        put("\"")
    }

    /// Appends the flag letters in bit order.
    mutating func put(_ flags: TCPHeader.Flags) {
        let letters: InlineArray<9, UInt8> = [0x46, 0x53, 0x52, 0x50, 0x2E, 0x55, 0x45, 0x57, 0x65]
        for bit in 0..<9 where flags.rawValue >> UInt16(bit) & 1 != 0 { put(byte: letters[bit]) }
    }
}
