import CausewayPackets
import CausewaySystem
import CausewayTypes
import CausewayWire

/// The default source addresses of a built packet. They are chosen before the packet is built, because the checksums cover them.
extension PacketCommand {
    func sender(toward destination: IPv4Address) throws -> IPv4Address {
        if let source {
            guard let address = AddressText.ipv4(source) else {
                throw CommandFailure("'\(source)' is not an IPv4 address")
            }
            return address
        }
        guard case .ipv4(let address) = try routed(.ipv4(destination)) else { return IPv4Address(bits: 0) }
        return address
    }

    func sender(toward destination: IPv6Address) throws -> IPv6Address {
        if let source {
            guard let address = IPv6Address(source) else { throw CommandFailure("'\(source)' is not an IPv6 address") }
            return address
        }
        guard case .ipv6(let address) = try routed(.ipv6(destination)) else { return IPv6Address(high: 0, low: 0) }
        return address
    }

    /// Returns the source address that the kernel would use. `nil` if the packet is not sent, and for an ARP request on a link without
    /// addresses.
    private func routed(_ destination: InternetAddress) throws -> InternetAddress? {
        guard send else { return nil }
        let over = kind == .arp ? interface : nil
        let source = SourceAddress.toward([SocketAddress(destination, port: 0)], over: over)[0]?.address
        // An ARP request needs no sender address. A request without one is a probe (RFC 5227 §2.1.1), and hosts answer
        // probes too.
        guard source == nil, kind != .arp else { return source }
        throw CommandFailure("no route to \(destination): set the source address with --source")
    }

    /// Returns the source MAC address of the packet. The address comes from the options if they contain one. Otherwise,
    /// if the packet is sent, it is the interface's own address, so that replies arrive.
    func senderHardware() throws -> MACAddress {
        if let sourceMac {
            guard let address = MACAddress(sourceMac) else {
                throw CommandFailure("'\(sourceMac)' is not a hardware address")
            }
            return address
        }
        guard send, let interface, let snapshot = try? NetworkSnapshot.current(),
            let found = snapshot.interfaces.first(where: { $0.interface.name == interface })
        else { return MACAddress(bits: 0) }
        return found.hardwareAddress.flatMap(MACAddress.init) ?? MACAddress(bits: 0)
    }
}
