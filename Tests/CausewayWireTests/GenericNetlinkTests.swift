import CausewayTypes
import Testing

@testable import CausewayWire

/// The family numbers are those of linux/genetlink.h, linux/mptcp_pm.h and linux/nl80211.h.
@Suite("Generic netlink")
struct GenericNetlinkTests {
    private typealias Bytes = NetlinkBytes

    private func decoded(_ bytes: [UInt8], _ vocabulary: NetlinkDecoder.Vocabulary = .generic) throws
        -> NetlinkMessage?
    {
        var decoder = NetlinkDecoder(bytes.span, vocabulary)
        return try decoder.next()?.message
    }

    private func generic(_ family: UInt16, command: UInt8, _ attributes: [UInt8]...) throws -> GenericNetlinkMessage {
        let body = [command, 1, 0, 0] + Array(attributes.joined())
        guard case .generic(let message)? = try decoded(Bytes.message(type: family, body)) else {
            throw WireError.invalid("vocabulary", at: 0)
        }
        return message
    }

    @Test("A family's number is requested by name, and read from the answer")
    func family() throws {
        let request = NetlinkRequest.generic(.familyNumber(of: "mptcp_pm")).encoded(sequence: 7)
        let name = Bytes.attribute(2, Array("mptcp_pm".utf8) + [0])
        #expect(request == Bytes.message(type: 16, flags: 0x05, sequence: 7, [3, 1, 0, 0] + name))
        let answer = try generic(16, command: 1, Bytes.attribute(1, Bytes.host(UInt16(31))))
        #expect(answer.familyNumber == 31)
        #expect(try generic(16, command: 1, Bytes.attribute(1, [31])).familyNumber == nil)
        #expect(try generic(17, command: 1, Bytes.attribute(1, Bytes.host(UInt16(31)))).familyNumber == nil)
    }

    @Test("One number means a link on one socket, and a family on another")
    func vocabulary() throws {
        let bytes = Bytes.message(type: 16, Bytes.link(index: 4))
        guard case .link(let link) = try decoded(bytes, .routing) else {
            Issue.record("no link")
            return
        }
        #expect(link.index == 4)
        let answers = Bytes.message(type: 2, Bytes.host(Int32(-1)))
        #expect(try decoded(answers) == .error(status: -1))
    }

    @Test(
        "Endpoints round-trip through their message format",
        arguments: [
            MultipathEndpoint(
                id: 3, address: .ipv4(IPv4Address(bits: 0x0A4D_0202)), interfaceIndex: 9, usage: [.subflow, .backup]),
            MultipathEndpoint(
                id: 200, address: .ipv6(IPv6Address(high: 0xFD77_0002 << 32, low: 2)), interfaceIndex: nil,
                usage: .signal),
        ])
    func endpoints(endpoint: MultipathEndpoint) throws {
        let request = NetlinkRequest.generic(.add(endpoint, 31)).encoded(sequence: 1)
        var answer = request
        answer.replaceSubrange(6..<8, with: [0, 0])
        guard case .generic(let message)? = try decoded(answer) else {
            Issue.record("no message")
            return
        }
        #expect(message.family == 31 && message.command == 1)
        #expect(MultipathEndpoint(message) == endpoint)
    }

    @Test("An endpoint in the format of the kernel's header")
    func endpointBytes() {
        let endpoint = MultipathEndpoint(
            address: .ipv4(IPv4Address(bits: 0x0A4D_0202)), interfaceIndex: 9, usage: .subflow)
        let parts =
            Bytes.attribute(1, Bytes.host(UInt16(2))) + Bytes.attribute(3, [10, 77, 2, 2])
            + Bytes.attribute(6, Bytes.host(UInt32(2))) + Bytes.attribute(7, Bytes.host(Int32(9)))
        let bytes = NetlinkRequest.generic(.add(endpoint, 31)).encoded(sequence: 1)
        #expect(
            bytes
                == Bytes.message(
                    type: 31, flags: 0x05, sequence: 1, [1, 1, 0, 0] + Bytes.attribute(0x8001, parts)))
    }

    @Test("Invalid endpoints are refused")
    func noEndpoint() throws {
        #expect(MultipathEndpoint(try generic(31, command: 3)) == nil)
        let strange = Bytes.attribute(1, Bytes.host(UInt16(7))) + Bytes.attribute(3, [10, 77, 2, 2])
        #expect(MultipathEndpoint(try generic(31, command: 3, Bytes.attribute(1, strange))) == nil)
        let short = Bytes.attribute(1, Bytes.host(UInt16(2))) + Bytes.attribute(3, [10, 77])
        #expect(MultipathEndpoint(try generic(31, command: 3, Bytes.attribute(1, short))) == nil)
    }

    @Test("Limits")
    func limits() throws {
        let request = NetlinkRequest.generic(.set(MultipathLimits(acceptedAddresses: 1, subflows: 4), 31))
        let numbers = Bytes.attribute(2, Bytes.host(UInt32(1))) + Bytes.attribute(3, Bytes.host(UInt32(4)))
        #expect(
            request.encoded(sequence: 0) == Bytes.message(type: 31, flags: 0x05, [5, 1, 0, 0] + numbers))
        let answer = try generic(31, command: 6, numbers)
        #expect(MultipathLimits(answer) == MultipathLimits(acceptedAddresses: 1, subflows: 4))
        #expect(MultipathLimits(try generic(31, command: 6)) == nil)
    }

    @Test("Wireless network interfaces are listed by their indices")
    func wireless() throws {
        #expect(WirelessInterface(try generic(28, command: 7, Bytes.attribute(3, Bytes.host(UInt32(5)))))?.index == 5)
        // This device is only for peer-to-peer discovery over radio. It has no network interface.
        #expect(WirelessInterface(try generic(28, command: 7, Bytes.attribute(153, Bytes.host(UInt64(2))))) == nil)
        let request = NetlinkRequest.generic(.wirelessInterfaces(28)).encoded(sequence: 2)
        #expect(request == Bytes.message(type: 28, flags: 0x301, sequence: 2, [5, 0, 0, 0]))
    }

    @Test("A damaged message does not affect others", arguments: 0..<200 as Range<UInt64>)
    func damaged(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let endpoint = MultipathEndpoint(
            id: 3, address: .ipv4(IPv4Address(bits: 0x0A4D_0202)), interfaceIndex: 9, usage: .subflow)
        var bytes = NetlinkRequest.generic(.add(endpoint, 31)).encoded(sequence: 1)
        for _ in 0..<4 {
            bytes[Int.random(in: 16..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        var decoder = NetlinkDecoder(bytes.span, .generic)
        var count = 0
        while let frame = (try? decoder.next()) ?? nil {
            count += 1
            if case .generic(let message) = frame.message { _ = MultipathEndpoint(message) }
        }
        #expect(count <= 1)
    }
}
