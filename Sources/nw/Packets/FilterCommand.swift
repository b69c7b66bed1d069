import ArgumentParser
import CausewayPackets
import CausewayTypes

/// A filter's meaning and compiled program, as the JSON object of `nw filter`.
private struct FilterListing: Encodable {
    /// One instruction of classic BPF (`struct sock_filter`).
    struct Instruction: Encodable {
        var code: UInt16
        var jt: UInt8
        var jf: UInt8
        var k: UInt32
    }

    var expression: String
    var link: String
    var tree: [String]
    var program: [String]
    /// The program for the kernel; `nil` if the kernel cannot run the filter.
    var kernelProgram: [Instruction]?

    init(_ filter: PacketFilter, expression: String, link: String) {
        self.expression = expression
        self.link = link
        let parts = filter.explanation.split(separator: "\n", omittingEmptySubsequences: false).split(separator: "")
        tree = parts.first?.map(String.init) ?? []
        program = parts.dropFirst().first?.map(String.init) ?? []
        kernelProgram = filter.kernelProgram?.map { Instruction(code: $0.code, jt: $0.jt, jf: $0.jf, k: $0.k) }
    }
}

/// `nw filter`: explains a packet filter.
struct FilterCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "filter",
        abstract: "Explain a packet filter: its tree, and the program that the kernel runs.",
        discussion: """
            The language is that of pcap: host, net, port, portrange and proto with src, dst, and, or, not; \
            proto[offset:size]; vlan, mpls, pppoes, vxlan. The error for an invalid expression shows the position of \
            the mistake.

            Examples:
              nw filter 'tcp port 80 and not host 10.0.0.1'
              nw filter --link RAW 'icmp[icmptype] == icmp-echo'
            """)

    @Option(
        help: ArgumentHelp(
            "Compile for this link type, by its tcpdump name: EN10MB, RAW, LINUX_SLL2, PPP, IEEE802_11_RADIO, MTP2, DSA_TAG_BRCM, ...",
            valueName: "type"))
    var link = "EN10MB"

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @Argument(help: "Filter expression.")
    var expression: [String]

    func run() async throws {
        try await reporting("filter") {
            guard let type = LinkType.named(link) else {
                throw CommandFailure("unknown link type '\(link)': use a tcpdump name such as EN10MB or RAW")
            }
            let text = expression.joined(separator: " ")
            do throws(FilterError) {
                let filter = try PacketFilter(text, linkType: type)
                let listing = FilterListing(filter, expression: text, link: type.name)
                printLine(json ? PrintableText(json: listing) : PrintableText(report: filter.explanation))
            } catch {
                throw CommandFailure(PrintableText(report: error.explained(in: text)))
            }
        }
    }
}
