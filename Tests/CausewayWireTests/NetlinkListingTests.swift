import CausewayWire
import Testing

@Suite("Netlink listings and requests")
struct NetlinkListingTests {
    private static func link(_ index: Int32, sequence: UInt32 = 5, flags: UInt16 = 2) -> [UInt8] {
        NetlinkBytes.message(type: 16, flags: flags, sequence: sequence, NetlinkBytes.link(index: index))
    }

    private static func done(_ status: Int32 = 0, sequence: UInt32 = 5, flags: UInt16 = 2) -> [UInt8] {
        NetlinkBytes.message(type: 3, flags: flags, sequence: sequence, NetlinkBytes.host(status))
    }

    private static func adopt(_ datagram: [UInt8], into listing: inout NetlinkListing<Int>)
        -> NetlinkListing<Int>.Progress
    {
        listing.adopt(datagram.span) { message in
            guard case .link(let link) = message else { return nil }
            return link.index
        }
    }

    @Test("Values arrive in several datagrams until the end mark")
    func collects() {
        var listing = NetlinkListing<Int>(sequence: 5)
        #expect(Self.adopt(Self.link(1) + Self.link(2), into: &listing) == .more)
        #expect(Self.adopt(NetlinkBytes.message(type: 1, sequence: 5) + Self.link(3), into: &listing) == .more)
        #expect(Self.adopt(Self.done(), into: &listing) == .complete)
        #expect(listing.values == [1, 2, 3])
        #expect(!listing.isInconsistent)
    }

    @Test("Answers to other requests are ignored, including their ends and failures")
    func ignoresOthers() {
        var listing = NetlinkListing<Int>(sequence: 5)
        let stale = Self.link(8, sequence: 4, flags: 0x12) + Self.done(-4, sequence: 4) + Self.link(9, sequence: 0)
        #expect(Self.adopt(stale + Self.link(1) + Self.done(), into: &listing) == .complete)
        #expect(listing.values == [1])
        #expect(!listing.isInconsistent)
    }

    @Test("A notification of a change is kept at any position")
    func interrupted() {
        for flagged in 0..<3 {
            var listing = NetlinkListing<Int>(sequence: 5)
            let flags = (0..<3).map { UInt16($0 == flagged ? 0x12 : 2) }
            let datagram = Self.link(1, flags: flags[0]) + Self.link(2, flags: flags[1]) + Self.done(flags: flags[2])
            #expect(Self.adopt(datagram, into: &listing) == .complete)
            #expect(listing.isInconsistent)
        }
    }

    struct Ending: Sendable, CustomTestStringConvertible {
        let name: String
        let datagram: [UInt8]
        let expected: NetlinkListing<Int>.Progress
        var testDescription: String { name }
    }

    static let endings: [Ending] = [
        Ending(name: "cut short", datagram: done(-90), expected: .failed(errno: 90)),
        Ending(
            name: "refused", datagram: NetlinkBytes.message(type: 2, sequence: 5, NetlinkBytes.host(Int32(-1))),
            expected: .failed(errno: 1)),
        Ending(
            name: "a status without a positive counterpart", datagram: done(.min), expected: .failed(errno: .min)),
        Ending(name: "overrun", datagram: NetlinkBytes.message(type: 4, sequence: 5), expected: .broken),
        Ending(name: "nonsense", datagram: [1, 2, 3], expected: .broken),
        Ending(name: "empty", datagram: [], expected: .more),
    ]

    @Test("Endings", arguments: endings)
    func ends(_ ending: Ending) {
        var listing = NetlinkListing<Int>(sequence: 5)
        #expect(Self.adopt(Self.link(1), into: &listing) == .more)
        #expect(Self.adopt(ending.datagram, into: &listing) == ending.expected)
    }

    struct Request: Sendable {
        let request: NetlinkRequest
        let type: UInt16
        let body: [UInt8]
    }

    static let requests: [Request] = [
        Request(
            request: .links, type: 18,
            body: [UInt8](repeating: 0, count: 16) + NetlinkBytes.attribute(29, NetlinkBytes.host(UInt32(8)))),
        Request(request: .addresses(.ipv6), type: 22, body: [10, 0, 0, 0, 0, 0, 0, 0]),
        Request(request: .routes(.unspecified), type: 26, body: [UInt8](repeating: 0, count: 12)),
    ]

    @Test("Requests", arguments: requests)
    func encodes(_ row: Request) {
        let expected = NetlinkBytes.message(type: row.type, flags: 0x301, sequence: 0x0102_0304, row.body)
        #expect(row.request.encoded(sequence: 0x0102_0304) == expected)
    }

    struct Notification: Sendable, CustomTestStringConvertible {
        let name: String
        let datagram: [UInt8]
        let affects: Bool
        var testDescription: String { name }
    }

    static let notifications: [Notification] = [
        Notification(name: "link", datagram: link(1), affects: true),
        Notification(
            name: "a bridge's port", datagram: NetlinkBytes.message(type: 17, NetlinkBytes.link(family: 7, index: 2)),
            affects: false),
        Notification(
            name: "address gone",
            datagram: NetlinkBytes.message(
                type: 21,
                NetlinkBytes.address(family: 2, prefix: 8, index: 1, NetlinkBytes.attribute(1, [10, 0, 0, 1]))),
            affects: true),
        Notification(
            name: "route", datagram: NetlinkBytes.message(type: 24, NetlinkBytes.route(family: 2)), affects: true),
        Notification(
            name: "path MTU exception",
            datagram: NetlinkBytes.message(type: 24, NetlinkBytes.route(family: 10, flags: 0x200)), affects: false),
        Notification(name: "rule", datagram: NetlinkBytes.message(type: 32), affects: true),
        Notification(name: "overrun", datagram: NetlinkBytes.message(type: 4), affects: true),
        Notification(name: "address label", datagram: NetlinkBytes.message(type: 72), affects: false),
        Notification(
            name: "a change after an address label", datagram: NetlinkBytes.message(type: 72) + link(1), affects: true),
        Notification(name: "nonsense", datagram: [1], affects: true),
        Notification(name: "nothing", datagram: [], affects: false),
    ]

    @Test("Relevant notifications", arguments: notifications)
    func relevance(_ row: Notification) {
        #expect(NetlinkMessage.affectReachability(row.datagram.span) == row.affects)
    }
}
