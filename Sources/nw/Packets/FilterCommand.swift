import ArgumentParser
import CausewayPackets
import CausewayTypes

/// `nw filter`: shows what a filter means.
struct FilterCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "filter",
        abstract: "Show what a packet filter means: its tree, and the program that the kernel runs.",
        discussion: """
            The language is that of pcap: host, net, port, portrange, proto with src, dst, and, or, not; proto[offset:size]; \
            vlan, mpls, pppoes, vxlan. A wrong expression is shown with the place that is wrong.

            Examples:
              nw filter 'tcp port 80 and not host 10.0.0.1'
              nw filter --link RAW 'icmp[icmptype] == icmp-echo'
            """)

    @Option(
        help: ArgumentHelp(
            "Link type as tcpdump names it: EN10MB, RAW, LINUX_SLL2, PPP, IEEE802_11_RADIO, MTP2, DSA_TAG_BRCM, ...",
            valueName: "type"))
    var link = "EN10MB"

    @Argument(help: "The expression.")
    var expression: [String]

    func run() async throws {
        try await reporting("filter") {
            guard let type = LinkType.named(link) else {
                throw Failure("the link type \(link) is not known")
            }
            let text = expression.joined(separator: " ")
            do throws(FilterError) {
                printLine(PrintableText(report: try PacketFilter(text, linkType: type).explanation))
            } catch {
                throw Failure(PrintableText(report: error.explained(in: text)))
            }
        }
    }
}
