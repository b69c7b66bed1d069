/// Prints packets as lines of text, in the form that tcpdump made everybody's habit.
///
/// Addresses and ports stay numbers. A printer remembers TCP conversations, to show sequence numbers from their beginning; it keeps at most
/// ``conversationLimit`` of them. Nothing in a packet can make it fail: where bytes are missing, the line ends with the protocol's name in
/// brackets (`[|tcp]`), and what contradicts itself is marked `(invalid)`.
public struct PacketPrinter: Sendable {
    /// How the time is shown. All are UTC.
    public enum TimeStyle: Sendable {
        case clock, none, seconds, sincePrevious, date, sinceFirst
    }

    /// Whether and how the bytes follow the line.
    public enum Dump: Sendable {
        case none, hex, hexWithLink, hexAndText, hexAndTextWithLink, text, textWithLink
    }

    /// What to show.
    public struct Options: Sendable {
        /// 0...3.
        public var verbosity = 0
        /// Show the link layer's header.
        public var showsLink = false
        /// Only the sizes of what transports carry.
        public var isQuiet = false
        public var time = TimeStyle.clock
        public var showsNumber = false
        public var dump = Dump.none
        public var absoluteSequence = false
        public var nanoseconds = false
        /// Take what TCP and UDP carry for DNS, on any port.
        public var expectsDNS = false

        public init() {}
    }

    public static let conversationLimit = 65_536

    public var options: Options
    var out = TextBuffer()
    /// What is named where bytes are missing.
    var part: StaticString = "link"
    var sequences = SequenceTable()
    /// By the initiator's cookie, at most ``conversationLimit``.
    var exchangePeers: [UInt64: ExchangePeers] = [:]
    var packetNumber = 0
    var ipDepth = 0
    private var times = TimeText()

    public init(_ options: Options = Options()) { self.options = options }

    var verbosity: Int { options.verbosity }

    /// The text for a packet: usually one line, more where verbosity or a dump asks for it. Ends with a line break.
    public mutating func line(_ packet: CapturedPacket, _ bytes: borrowing ByteView) -> [UInt8] {
        print(packet, bytes)
        return out.bytes
    }

    /// The same, behind what is in `buffer`: nothing is allocated for it.
    package mutating func append(_ packet: CapturedPacket, _ bytes: borrowing ByteView, to buffer: inout [UInt8]) {
        print(packet, bytes)
        out.append(to: &buffer)
    }

    /// Prints a packet into the printer's own buffer, which the next packet overwrites.
    package mutating func print(_ packet: CapturedPacket, _ bytes: borrowing ByteView) {
        out.removeAll()
        packetNumber += 1
        if options.showsNumber {
            out.decimal(packetNumber, width: 5)
            out.put("  ")
        }
        if invalidHeader(packet) { return }
        times.put(packet.time, options, &out)
        part = "link"
        ipDepth = 0
        var headerCount = 0
        do throws(CutOff) {
            try link(packet.linkType, bytes, packet.originalCount, &headerCount)
        } catch {
            out.put(" [|")
            out.put(part)
            out.put("]")
        }
        dump(bytes, headerCount)
        out.put("\n")
    }

    private mutating func invalidHeader(_ packet: CapturedPacket) -> Bool {
        let (captured, original, maximum) = (
            packet.capturedCount, packet.originalCount, CaptureFileReader.largestPacket
        )
        guard captured == 0 || original == 0 || original < captured || original > maximum else { return false }
        out.put("[Invalid header:")
        if captured == 0 { out.put(" caplen==0") }
        if original == 0 {
            out.put(" len==0")
        } else if original < captured {
            out.put(" len(")
            out.decimal(original)
            out.put(") < caplen(")
            out.decimal(captured)
            out.put(")")
        }
        if original > maximum {
            out.put(" len(")
            out.decimal(original)
            out.put(") > ")
            out.decimal(maximum)
        }
        out.put("]\n")
        return true
    }

    /// Notes that what was printed contradicts itself.
    mutating func invalid() { out.put(" (invalid)") }

    /// A condition that a packet breaks, with both numbers.
    mutating func broken(_ what: StaticString, _ value: Int, _ sign: StaticString, _ limit: Int) {
        out.put(" [")
        out.put(what)
        out.put(" ")
        out.decimal(value)
        out.put(" ")
        out.put(sign)
        out.put(" ")
        out.decimal(limit)
        out.put("]")
        invalid()
    }

    mutating func put<T: BinaryInteger>(_ before: StaticString, _ value: T, _ after: StaticString = "") {
        out.put(before)
        out.decimal(value)
        out.put(after)
    }
    mutating func putHex<T: BinaryInteger & UnsignedInteger>(
        _ before: StaticString, _ value: T, width: Int = 1, _ after: StaticString = ""
    ) {
        out.put(before)
        out.hex(value, width: width)
        out.put(after)
    }

    /// The names of bits, with commas between, or `none`.
    mutating func bits(_ value: UInt32, _ names: [(UInt32, StaticString)], none: StaticString) {
        var isFirst = true
        for (bit, name) in names where value & bit == bit {
            if !isFirst { out.put(", ") }
            out.put(name)
            isFirst = false
        }
        if isFirst { out.put(none) }
    }
}
