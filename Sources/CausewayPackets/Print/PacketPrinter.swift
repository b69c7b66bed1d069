/// Prints packets as text lines in tcpdump's format.
///
/// Addresses and ports are printed as numbers. To print relative sequence numbers, the printer stores at most
/// ``conversationLimit`` TCP conversations.
///
/// Printing never fails. If bytes are missing, the line ends with the protocol's name in brackets (`[|tcp]`). Fields
/// that contradict each other are marked `(invalid)`.
public struct PacketPrinter: Sendable {
    /// The time format. All times are UTC.
    public enum TimeStyle: Sendable {
        /// The time format:
        ///
        /// - `clock`: the time of day
        /// - `none`: no time
        /// - `seconds`: seconds since 1970
        /// - `sincePrevious`: the time since the previous packet
        /// - `date`: the date and the time of day
        /// - `sinceFirst`: the time since the first packet
        case clock, none, seconds, sincePrevious, date, sinceFirst
    }

    /// The format in which a packet's bytes are printed after the packet's text.
    public enum Dump: Sendable {
        /// The byte format: hexadecimal numbers, text, or both. The cases that end in `WithLink` include the link-layer
        /// header.
        case none, hex, hexWithLink, hexAndText, hexAndTextWithLink, text, textWithLink
    }

    /// Options for the output.
    public struct Options: Sendable {
        /// Detail level, 0...3.
        public var verbosity = 0
        /// Whether to print the link-layer header.
        public var showsLink = false
        /// Whether to print only transport payload sizes.
        public var isQuiet = false
        /// The time format.
        public var time = TimeStyle.clock
        /// Whether to print the packet number.
        public var showsNumber = false
        /// The format of the raw bytes that follow a packet's text. The default prints no bytes.
        public var dump = Dump.none
        /// Whether to print absolute TCP sequence numbers.
        public var absoluteSequence = false
        /// Whether to print nanoseconds, not microseconds.
        public var nanoseconds = false
        /// Whether to print every TCP and UDP payload as DNS, on any port.
        public var expectsDNS = false

        /// Creates the default options.
        public init() {}
    }

    /// The maximum number of TCP conversations that a printer keeps in memory. The same limit applies to IPsec key
    /// exchanges.
    public static let conversationLimit = 65_536

    /// Options for the output.
    public var options: Options
    var out = TextBuffer()
    /// The protocol name to print if the packet has too few bytes.
    var part: StaticString = "link"
    var sequences = SequenceTable()
    /// The two peers of each IPsec key exchange, by the initiator's cookie. At most ``conversationLimit`` exchanges are
    /// stored.
    var exchangePeers: [UInt64: ExchangePeers] = [:]
    /// NFS calls that still await a reply, at most ``conversationLimit``.
    var remoteCalls: [RemoteCall: RemoteProcedure] = [:]
    var initials: QUICInitials?
    var packetNumber = 0
    var ipDepth = 0
    private var times = TimeText()

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - options: Options for the output.
    ///   - initialCipher: Decrypts the first packets on QUIC connections, to print the names in their ClientHello if
    ///     ``Options/verbosity`` is at least 1. Without a cipher, these names are not printed for QUIC.
    public init(_ options: Options = Options(), initialCipher: QUICInitialCipher? = nil) {
        self.options = options
        initials = initialCipher.map { QUICInitials($0) }
    }

    var verbosity: Int { options.verbosity }

    /// Returns a packet's text with a final line break. The text has one line. It can have more lines if the verbosity
    /// is above 0, or if the packet's bytes are dumped.
    public mutating func line(_ packet: CapturedPacket, _ bytes: borrowing ByteView) -> [UInt8] {
        print(packet, bytes)
        return out.bytes
    }

    /// Appends the text for a packet to `buffer`. Allocates only when `buffer` grows.
    package mutating func append(_ packet: CapturedPacket, _ bytes: borrowing ByteView, to buffer: inout [UInt8]) {
        print(packet, bytes)
        out.append(to: &buffer)
    }

    /// Prints a packet into the printer's own buffer. The next packet overwrites the text.
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
        do throws(WireError) {
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

    /// Prints " (invalid)" after fields that contradict each other.
    mutating func invalid() { out.put(" (invalid)") }

    /// Prints a violated condition, for example `[length 5 < 20] (invalid)`.
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

    /// Prints the names of set bits, separated by commas, or `none`.
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
