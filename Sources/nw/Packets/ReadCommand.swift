import ArgumentParser
import CausewayPackets
import CausewaySystem
import CausewayTypes

/// `nw read`: shows the packets in a capture file.
struct ReadCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "read",
        abstract: "Show the packets of a capture file, or store some of them in another file.",
        usage: "nw read [<options>] FILE [FILTER...]",
        discussion: """
            Reads pcap and pcapng files; - is standard input. Requires no privilege. The words after the file are a \
            filter in the pcap language. -v and --json show the server name of QUIC connections if OpenSSL is installed.

            Examples:
              nw read trace.pcap                           one line per packet
              nw read -v trace.pcapng 'tcp port 443'       some packets, in detail
              nw read --json trace.pcap                    JSON for programs
              nw read -w dns.pcap trace.pcap udp port 53   store some packets
            """)

    @OptionGroup var output: PacketOutputOptions

    @Option(name: .customShort("r"), help: ArgumentHelp("Read this capture file, as with tcpdump.", valueName: "file"))
    var input: String?

    @Argument(
        help: ArgumentHelp(
            "Capture file, unless -r is given; then a filter expression.", valueName: "file"))
    var words: [String] = []

    var file: String { input ?? words.first ?? "-" }
    var filter: [String] { input == nil ? Array(words.dropFirst()) : words }

    init() {}

    /// Creates this command for the arguments of `nw capture -r`, which runs it.
    init(file: String, filter: [String], output: PacketOutputOptions) {
        self.output = output
        input = file
        words = filter
    }

    func validate() throws {
        if input == nil, words.isEmpty { throw ValidationError("Specify a capture file; - is standard input.") }
    }

    func run() async throws {
        try await reporting("read") { try show() }
    }

    private func show() throws {
        let input = try open()
        var reader = CaptureFileReader()
        var shown = try PacketOutput(output, isLive: false)
        var filters = PacketFilters(filter.joined(separator: " "))
        // Read the file and do not map it. Reading is faster for files of usual sizes, and also works for pipes.
        let portion = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer { portion.deallocate() }
        var isAtEnd = false
        while true {
            do {
                if try take(&reader, &filters, &shown) { return try shown.finish(reader.linkType) }
            } catch let error as CaptureFileError {
                // Show the packets before the damaged record, then report the damage.
                try shown.finish(reader.linkType)
                throw CommandFailure("\(file): \(error)")
            }
            if let failure = filters.failure { throw failure }
            if isAtEnd { break }
            let count = try fill(input, portion)
            if count == 0 {
                reader.finish()
            } else {
                reader.feed(ByteView(UnsafeRawBufferPointer(rebasing: portion[..<count]).bytes))
            }
            isAtEnd = count == 0
        }
        try shown.finish(reader.linkType)
    }

    /// Shows the available packets. Returns whether to stop. The command stops when the maximum number of packets is
    /// shown, or when the output is full.
    private func take(
        _ reader: inout CaptureFileReader, _ filters: inout PacketFilters, _ shown: inout PacketOutput
    ) throws -> Bool {
        // Read the option only once, before the loop. Each access to an option parses the option again.
        let maximum = output.count ?? .max
        while let packet = try reader.next() {
            let bytes = reader.bytes
            guard filters.matches(packet, bytes) else { continue }
            try shown.add(packet, bytes)
            if shown.count >= maximum || shown.isFull { return true }
        }
        return false
    }

    private func open() throws -> OpenFile {
        if file == "-" { return .standardInput }
        do { return try OpenFile(reading: file) } catch { throw CommandFailure("open \(file) failed", error) }
    }

    private func fill(_ input: borrowing OpenFile, _ portion: UnsafeMutableRawBufferPointer) throws -> Int {
        do { return try input.fill(portion) } catch { throw CommandFailure("read \(file) failed", error) }
    }
}

/// The compiled filters, one for each link type in the file.
struct PacketFilters {
    let expression: String
    private var compiled: [LinkType: PacketFilter] = [:]
    /// Why the expression is invalid for a link type.
    private(set) var failure: CommandFailure?

    init(_ expression: String) { self.expression = expression }

    mutating func matches(_ packet: CapturedPacket, _ bytes: borrowing ByteView) -> Bool {
        if expression.isEmpty { return true }
        if let filter = compiled[packet.linkType] { return filter.matches(bytes, originalCount: packet.originalCount) }
        guard failure == nil else { return false }
        do {
            let filter = try PacketFilter(expression, linkType: packet.linkType)
            compiled[packet.linkType] = filter
            return filter.matches(bytes, originalCount: packet.originalCount)
        } catch {
            failure = CommandFailure(PrintableText(report: error.explained(in: expression)))
            return false
        }
    }
}
