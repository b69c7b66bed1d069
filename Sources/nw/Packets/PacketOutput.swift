import ArgumentParser
import Causeway
import CausewayPackets
import CausewaySystem

/// Output options shared by all packet commands.
struct PacketOutputOptions: ParsableArguments {
    @Flag(name: .customShort("v"), help: "Print more detail; may be given up to three times.")
    var verbosity: Int

    @Flag(name: .customShort("e"), help: "Print the link-layer header.")
    var showsLink = false

    @Flag(name: .customShort("q"), help: "Print less: only the payload sizes of TCP and UDP.")
    var isQuiet = false

    @Flag(
        name: .customShort("t"),
        help:
            "Select the time format: -t none, -tt seconds, -ttt since the previous packet, -tttt date, -ttttt since the first packet."
    )
    var timeStyle: Int

    @Flag(name: [.customShort("#"), .customLong("number")], help: "Number the packets.")
    var showsNumber = false

    @Flag(name: .customShort("S"), help: "Print absolute TCP sequence numbers.")
    var absoluteSequence = false

    @Flag(name: .customShort("x"), help: "Print the bytes too; -xx includes the link-layer header.")
    var hex: Int

    @Flag(name: .customShort("X"), help: "Print the bytes and their text; -XX includes the link-layer header.")
    var hexAndText: Int

    @Flag(name: .customShort("A"), help: "Print the bytes as text.")
    var text: Int

    @OptionGroup var numeric: NumericOption

    @OptionGroup var buffering: LineBufferingOptions

    @Flag(help: "Print times in nanoseconds.")
    var nano = false

    @Flag(help: "Print one JSON object per packet.")
    var json = false

    @Option(name: .customShort("c"), help: ArgumentHelp("Exit after COUNT packets.", valueName: "count"))
    var count: Int?

    @Option(
        name: .customShort("w"),
        help: ArgumentHelp(
            "Store the packets in a new FILE instead of printing them: pcapng if its name ends in .pcapng, otherwise pcap; - is standard output.",
            valueName: "file"))
    var store: String?

    func printerOptions() -> PacketPrinter.Options {
        var options = PacketPrinter.Options()
        options.verbosity = verbosity
        options.showsLink = showsLink
        options.isQuiet = isQuiet
        options.showsNumber = showsNumber
        options.absoluteSequence = absoluteSequence
        options.nanoseconds = nano
        let styles: [PacketPrinter.TimeStyle] = [.clock, .none, .seconds, .sincePrevious, .date, .sinceFirst]
        options.time = styles[min(timeStyle, styles.count - 1)]
        if hex > 0 { options.dump = hex > 1 ? .hexWithLink : .hex }
        if hexAndText > 0 { options.dump = hexAndText > 1 ? .hexAndTextWithLink : .hexAndText }
        if text > 0 { options.dump = text > 1 ? .textWithLink : .text }
        return options
    }
}

/// Writes packets as text or JSON to standard output, or to a capture file.
struct PacketOutput: ~Copyable {
    private enum Form {
        case text, json
        case pcap(PcapWriter?)
        case pcapng(LinkType?)
    }

    private var form: Form
    /// The file for text output. A capture that is written to standard output also uses it.
    private let file: OpenFile
    /// The capture files. Their own thread writes them, so that a slow disk does not delay reading the kernel's ring
    /// buffer.
    private let files: CaptureFiles?
    private var current: CaptureFileAge
    /// The number of packets in `buffer`.
    private var buffered = 0
    private var printer: PacketPrinter
    private var json = PacketJSON(initialCipher: .library)
    private var buffer: [UInt8] = []
    /// Whether each packet is written immediately.
    private let isLive: Bool
    private(set) var count = 0

    init(_ options: PacketOutputOptions, isLive: Bool, rotation: CaptureRotation = .none) throws {
        current = CaptureFileAge(rotation)
        printer = PacketPrinter(options.printerOptions(), initialCipher: .library)
        self.isLive = isLive
        file = .standardOutput
        guard let path = options.store else {
            files = nil
            form = options.json ? .json : .text
            return
        }
        files = path == "-" ? nil : try CaptureFiles(path, rotation, mayDrop: isLive)
        form = path.hasSuffix(".pcapng") ? .pcapng(nil) : .pcap(nil)
    }

    /// Whether the maximum number of files is written, or the program that reads standard output has closed the pipe.
    var isFull: Bool { isUnread || (files?.isFull ?? false) }
    private var isUnread = false
    /// Packets not stored because the disk was too slow.
    var droppedCount: Int { files?.droppedCount ?? 0 }

    /// Writes the header of a live capture before its first packet arrives. A program that reads the capture then knows
    /// the link type at once.
    ///
    /// If the capture has several files, each header is written with the file's first packet instead.
    mutating func begin(_ linkType: LinkType) throws {
        guard !current.rotation.isOn else { return }
        switch form {
        case .pcap(nil):
            // The kernel reports packet times in nanoseconds.
            let writer = PcapWriter(linkType: linkType, isNanoseconds: true)
            buffer += writer.header()
            form = .pcap(writer)
        case .pcapng(nil):
            PcapngWriter().begin(linkType, to: &buffer)
            form = .pcapng(linkType)
        case .pcap, .pcapng, .text, .json: return
        }
        try flush()
    }

    mutating func add(_ packet: CapturedPacket, _ bytes: borrowing ByteView) throws {
        count += 1
        buffered += 1
        if current.byteCount > 0 { try rotate() }
        switch form {
        case .text: printer.append(packet, bytes, to: &buffer)
        case .json: json.append(packet, bytes, to: &buffer)
        case .pcap(let existing):
            let writer = existing ?? PcapWriter(linkType: packet.linkType, isNanoseconds: packet.time.isNanoseconds)
            if existing == nil {
                buffer += writer.header()
                form = .pcap(writer)
            }
            guard writer.linkType == packet.linkType else { throw try other(packet.linkType, than: writer.linkType) }
            writer.append(packet, bytes, to: &buffer)
        case .pcapng(let known):
            let writer = PcapngWriter()
            if known != packet.linkType {
                writer.begin(packet.linkType, to: &buffer)
                form = .pcapng(packet.linkType)
            }
            var stored = packet
            stored.interface = 0
            writer.append(stored, bytes, to: &buffer)
        }
        if buffer.count >= 65_536 { try flush() }
    }

    /// Ends the output, because a packet has another link type than the file. Returns the error to throw.
    ///
    /// The packets before this one are stored.
    private mutating func other(_ link: LinkType, than before: LinkType) throws -> CommandFailure {
        buffered -= 1
        try finish(before)
        return CommandFailure(
            """
            packet \(count) has link type \(link.name), the packets before it have \(before.name): a pcap file has one link type. \
            The packets before it are stored; to store all packets, use a .pcapng file
            """)
    }

    /// Starts the next file if the current file has reached its time or size limit.
    private mutating func rotate() throws {
        guard current.isOver(with: buffer.count), let files else { return }
        // The packet that is being added belongs to the next file. So do not count it for the current file.
        buffered -= 1
        try flush()
        buffered = 1
        files.rotate()
        current = CaptureFileAge(current.rotation)
        switch form {
        case .pcap: form = .pcap(nil)
        case .pcapng: form = .pcapng(nil)
        case .text, .json: break
        }
    }

    /// Ends a batch. Live output is flushed so that the user sees the packets immediately.
    mutating func endBatch() throws { if isLive { try flush() } }

    /// Ends the output. A capture file without packets still gets a header with the link type.
    mutating func finish(_ linkType: LinkType?) throws {
        if count == 0, let linkType {
            switch form {
            case .pcap(nil): buffer += PcapWriter(linkType: linkType).header()
            case .pcapng(nil): PcapngWriter().begin(linkType, to: &buffer)
            case .pcap, .pcapng, .text, .json: break
            }
        }
        try flush()
        try files?.finish()
    }

    private mutating func flush() throws {
        guard !buffer.isEmpty else { return }
        current.byteCount += buffer.count
        if let files {
            let content = buffer
            buffer = []
            buffer.reserveCapacity(content.count)
            try files.append(content, packets: buffered)
            buffered = 0
            return
        }
        do {
            try buffer.withUnsafeBytes { try file.writeAll($0) }
        } catch NWError.posix(.EPIPE) {
            // A reader that closes the pipe early, such as head(1), is not an error.
            isUnread = true
        } catch { throw CommandFailure("write failed", error) }
        buffer.removeAll(keepingCapacity: true)
    }
}
