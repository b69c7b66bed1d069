import ArgumentParser
import CausewayPackets
import CausewaySystem

/// How packets are shown and stored, for every command that has some.
struct PacketOutputOptions: ParsableArguments {
    @Flag(name: .customShort("v"), help: "More detail; up to three times.")
    var verbosity: Int

    @Flag(name: .customShort("e"), help: "Show the link layer's header.")
    var showsLink = false

    @Flag(name: .customShort("q"), help: "Less: only the sizes of what TCP and UDP carry.")
    var isQuiet = false

    @Flag(
        name: .customShort("t"),
        help: "Time: -t none, -tt seconds, -ttt since the packet before, -tttt date, -ttttt since the first.")
    var timeStyle: Int

    @Flag(name: [.customShort("#"), .customLong("number")], help: "Number the packets.")
    var showsNumber = false

    @Flag(name: .customShort("S"), help: "TCP's sequence numbers as they are.")
    var absoluteSequence = false

    @Flag(name: .customShort("x"), help: "The octets too; -xx with the link layer's.")
    var hex: Int

    @Flag(name: .customShort("X"), help: "The octets and their text; -XX with the link layer's.")
    var hexAndText: Int

    @Flag(name: .customShort("A"), help: "The octets as text.")
    var text: Int

    @Flag(help: "Nanoseconds.")
    var nano = false

    @Flag(help: "One JSON object a packet.")
    var json = false

    @Option(name: .customShort("c"), help: ArgumentHelp("End after so many packets.", valueName: "count"))
    var count: Int?

    @Option(
        name: .customShort("w"),
        help: ArgumentHelp(
            "Store the packets in this new file (pcapng if it ends so, else pcap; - is standard output) instead of showing them.",
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

/// Where packets go: text or JSON on standard output, or a capture file.
struct PacketOutput: ~Copyable {
    private enum Form {
        case text, json
        case pcap(PcapWriter?)
        case pcapng(LinkType?)
    }

    private var form: Form
    private let file: OpenFile
    private var printer: PacketPrinter
    private var json = PacketJSON()
    private var buffer: [UInt8] = []
    /// Whether whoever reads wants to see each packet at once.
    private let isLive: Bool
    private(set) var count = 0

    init(_ options: PacketOutputOptions, isLive: Bool) throws {
        printer = PacketPrinter(options.printerOptions())
        self.isLive = isLive
        guard let path = options.store else {
            file = .standardOutput
            form = options.json ? .json : .text
            return
        }
        if path == "-" {
            file = .standardOutput
        } else {
            do { file = try OpenFile(creating: path) } catch { throw Failure("create \(path) failed", error) }
        }
        form = path.hasSuffix(".pcapng") ? .pcapng(nil) : .pcap(nil)
    }

    mutating func add(_ packet: CapturedPacket, _ octets: borrowing Octets) throws {
        count += 1
        switch form {
        case .text: buffer += printer.line(packet, octets)
        case .json: buffer += json.line(packet, octets)
        case .pcap(let existing):
            let writer = existing ?? PcapWriter(linkType: packet.linkType, isNanoseconds: packet.time.isNanoseconds)
            if existing == nil {
                buffer += writer.header()
                form = .pcap(writer)
            }
            guard writer.linkType == packet.linkType else {
                throw Failure("the packets have different link types, which pcap cannot hold: store them as .pcapng")
            }
            writer.append(packet, octets, to: &buffer)
        case .pcapng(let known):
            let writer = PcapngWriter()
            if known != packet.linkType {
                writer.begin(packet.linkType, to: &buffer)
                form = .pcapng(packet.linkType)
            }
            var stored = packet
            stored.interface = 0
            writer.append(stored, octets, to: &buffer)
        }
        if buffer.count >= 65_536 { try flush() }
    }

    /// Ends a batch: what was shown of it shall be seen.
    mutating func endBatch() throws { if isLive { try flush() } }

    /// An empty file still says what it would have held.
    mutating func finish(_ linkType: LinkType?) throws {
        if count == 0, let linkType {
            switch form {
            case .pcap: buffer += PcapWriter(linkType: linkType).header()
            case .pcapng: PcapngWriter().begin(linkType, to: &buffer)
            case .text, .json: break
            }
        }
        try flush()
    }

    private mutating func flush() throws {
        guard !buffer.isEmpty else { return }
        do {
            try buffer.withUnsafeBytes { try file.writeAll($0) }
        } catch { throw Failure("write failed", error) }
        buffer.removeAll(keepingCapacity: true)
    }
}
