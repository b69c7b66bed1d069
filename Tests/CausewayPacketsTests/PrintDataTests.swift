import Foundation
import Testing

@testable import CausewayPackets

/// Compares printed lines with tcpdump's output for the captures of its test suite. The captures are in the folder of
/// test data.
@Suite("Text of captures from other projects")
struct PrintDataTests {
    struct Case {
        var name: String
        var capture: String
        var expected: String
        var options: [String]
    }

    static func cases() throws -> [Case] {
        try PacketData.text("tcpdump/TESTLIST").split(separator: "\n").compactMap { line in
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init)
            guard words.count >= 3, !words[0].hasPrefix("#") else { return nil }
            return Case(name: words[0], capture: words[1], expected: words[2], options: Array(words[3...]))
        }
    }

    /// Tests for which the whole output is compared line by line. Their captures contain only protocols that the
    /// printer supports.
    static let known: Set<String> = [
        "802.1ad_QinQv", "LINKTYPE_IPV4", "LINKTYPE_IPV6", "LINKTYPE_IPV6-e", "LINKTYPE_IPV6_invalid",
        "LINKTYPE_RAW_ipv4",
        "LINKTYPE_RAW_ipv4-e", "bad-ipv4-version-pgm-heapoverflow", "bigtcp-ipv4-geneve-ipv4",
        "bigtcp-ipv4-geneve-ipv6",
        "bigtcp-ipv4-vxlan-ipv4", "bigtcp-ipv6-geneve-ipv4", "bigtcp-ipv6-hbh", "daoack01", "dhcp-option-108",
        "dhcp-rfc4388", "dns-badlabel", "dns-zlip-1", "dns_fwdptr", "dns_tcp-skip-3-c-1", "dns_tcp-skip-3-c-4",
        "dns_tcp-vvv",
        "dns_tcp_8053", "dns_tcp_8053-T", "dns_udp-vvv", "dnssec-vv", "empty-pcap", "empty-pcapng", "geneve-vni",
        "geneve-vv",
        "gso-ipv4", "gso-ipv4-vxlan-ipv4", "gso-ipv6", "gso-ipv6-vxlan-ipv4", "hoobr_rt6_print", "icmp-cksum-oobr-1",
        "icmp-icmp_print-oobr-2", "icmp-rfc8335", "icmp6-rfc8335-v", "icmp_ext_oob_poc", "icmpv6-length-zero", "igmpv2",
        "ip6_frag_asan-v", "ip_ts_opts_asan", "ipv4_invalid_hdr_length", "ipv4_tcp_http_xml", "ipv6-rthdr-oobr",
        "ipv6-srh-ext-header", "ipv6-srh-ipproto-ether-ev", "ipv6-srh-ipproto-ether-v", "ipv6-srh-tlv-hmac-v",
        "ipv6-srh-tlv-pad1-padn-5", "ipv6-srh-tlv-pad1-padn-5-v", "ipv6-too-long-jumbo", "ipv6_invalid_length",
        "ipv6_invalid_length_2", "ipv6_jumbogram_1", "ipv6_missing_jumbo_payload_option", "ipv6_mobility_1",
        "ipv6hdr-heapoverflow-v", "mobility_opt_asan_2", "mobility_opt_asan_4", "mobility_opt_asan_7",
        "mobility_opt_asan_8",
        "mpls-over-udp", "mpls-traceroute", "mptcp-v0", "mptcp-v1", "mtrace", "nfs-cannot-pad-32-bit",
        "nfs-write-verf-cookie", "nfs_large_credentials_length", "print-A", "print-X", "print-sampling",
        "print-xx", "rfc5837", "scps_invalid", "ssh", "stp-heapoverflow-1", "tcp-handshake-micro-t",
        "tcp-handshake-micro-ttt", "tcp-handshake-micro-tttt", "tcp-handshake-nano", "tcp-handshake-nano-ttttt",
        "tcp_rst_data", "tcp_rst_data-trunc-v", "timestamp_invalid_micro", "unaligned-nfs-1", "vxlan",
        "stp-heapoverflow-2", "stp-heapoverflow-3", "dsa-e", "edsa", "edsa-e", "edsa-high-vid", "edsa-high-vid-e",
        "hdlc4", "ipoib", "of13_ericsson", "geonet_v0_and_calm_fast",
    ]

    static func printed(_ item: Case) throws -> [String] {
        var printer = PacketPrinter()
        printer.options.showsNumber = true
        printer.options.time = .date
        var (skip, limit, sampling) = (0, Int.max, 1)
        var filterText = ""
        var index = 0
        var type: String?
        while index < item.options.count {
            let option = item.options[index]
            index += 1
            func argument() -> String {
                index += 1
                return item.options[index - 1]
            }
            switch option {
            case "--": filterText = item.options[index...].joined(separator: " "); index = item.options.count
            case "--skip": skip = Int(argument()) ?? 0
            case "-c": limit = Int(argument()) ?? 0
            case "-T": type = argument()
            case "--nano": printer.options.nanoseconds = true
            case "SPECIAL_t":
                if printer.options.time == .date, !item.options.contains("-tttt") { printer.options.time = .clock }
            case _ where option.hasPrefix("--print-sampling="):
                sampling = Int(option.dropFirst(17)) ?? 1
                printer.options.absoluteSequence = true
            case "-xx": printer.options.dump = .hexWithLink
            case _ where option.hasPrefix("-") && !option.hasPrefix("--"): letters(option.dropFirst(), &printer.options)
            default: break
            }
        }
        printer.options.expectsDNS = type == "domain"
        return try text(item, &printer, skip, limit, sampling, filterText)
    }

    private static func letters(_ letters: Substring, _ options: inout PacketPrinter.Options) {
        if letters.allSatisfy({ $0 == "t" }) {
            let styles: [PacketPrinter.TimeStyle] = [.none, .seconds, .sincePrevious, .date, .sinceFirst]
            options.time = styles[letters.count - 1]
            return
        }
        for letter in letters {
            switch letter {
            case "v": options.verbosity += 1
            case "e": options.showsLink = true
            case "q": options.isQuiet = true
            case "A": options.dump = .text
            case "X": options.dump = .hexAndText
            case "S": options.absoluteSequence = true
            default: break
            }
        }
    }

    private static func text(
        _ item: Case, _ printer: inout PacketPrinter, _ skip: Int, _ limit: Int, _ sampling: Int, _ filterText: String
    ) throws -> [String] {
        var output: [UInt8] = []
        let packets = PacketData.packets(try PacketData.bytes("tcpdump/\(item.capture)")).packets
        var (matched, number) = (0, 0)
        for (packet, bytes) in packets {
            if !filterText.isEmpty {
                let filter = try PacketFilter(filterText, linkType: packet.linkType)
                guard filter.matches(ByteView(bytes.span), originalCount: packet.originalCount) else { continue }
            }
            number += 1
            if number <= skip {
                printer.packetNumber += 1
                continue
            }
            if matched == limit { break }
            matched += 1
            if number % sampling != 0 {
                printer.packetNumber += 1
                continue
            }
            output += printer.line(packet, ByteView(bytes.span))
        }
        var lines = String(decoding: output, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last == "" { lines.removeLast() }
        return lines.map(String.init)
    }

    @Test func knownProtocolsPrintAsExpected() throws {
        guard PacketData.required("text of captures") != nil else { return }
        let show = ProcessInfo.processInfo.environment["CAUSEWAY_SHOW_DIFFERENCES"]
        var (lines, equal) = (0, 0)
        for item in try Self.cases() where Self.known.contains(item.name) {
            var expected = try PacketData.text("tcpdump/\(item.expected)")
                .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if expected.last == "" { expected.removeLast() }
            let found = try Self.printed(item)
            let same = zip(expected, found).filter { $0 == $1 }.count
            lines += max(expected.count, found.count)
            equal += same
            if let show, same != max(expected.count, found.count) {
                print("== \(item.name) \(item.options): \(same) of \(expected.count)")
                for (one, other) in zip(expected, found) where one != other {
                    print("  - \(one.prefix(700))\n  + \(other.prefix(700))")
                    if show != "all" { break }
                }
                if expected.count != found.count { print("  lines: \(expected.count) expected, \(found.count) found") }
            }
        }
        print("text: \(equal) of \(lines) lines equal")
        #expect(equal * 100 >= lines * 99)
    }

    @Test func everythingPrints() throws {
        guard PacketData.required("all captures") != nil else { return }
        var (lines, equal) = (0, 0)
        for item in try Self.cases() {
            let expected = try PacketData.text("tcpdump/\(item.expected)").split(
                separator: "\n", omittingEmptySubsequences: false)
            let found = Set(try Self.printed(item))
            lines += expected.count
            equal += expected.filter { found.contains(String($0)) }.count
        }
        print("text of all captures, other protocols too: \(equal) of \(lines) lines")
    }
}
