import Causeway
import CausewayPackets
import CausewayRuntime
import CausewaySystem
import CausewayWire

/// A host to scan.
struct ScanTarget: Sendable {
    /// The host's name from the command line. If the target comes from an address range, this is the address.
    var name: String
    var address: InternetAddress
    /// The address, with port 0.
    var socketAddress: SocketAddress

    init(name: String?, _ address: InternetAddress) {
        self.address = address
        self.name = name ?? "\(address)"
        socketAddress = SocketAddress(address, port: 0)
    }

    var isIPv6: Bool { socketAddress.family == .ipv6 }

    /// Resolves the arguments to hosts, in the given order. Duplicate addresses are removed.
    static func find(_ words: [String], family: SocketAddress.Family?) async throws -> [ScanTarget] {
        var found: [ScanTarget] = []
        var seen: Set<SocketAddress> = []
        for word in words {
            for target in try await targets(of: word, family) where seen.insert(target.socketAddress).inserted {
                found.append(target)
            }
        }
        guard found.count <= TargetRange.maximumHosts else {
            throw CommandFailure("too many hosts: the maximum is \(TargetRange.maximumHosts)")
        }
        return found
    }

    private static func targets(of word: String, _ family: SocketAddress.Family?) async throws -> [ScanTarget] {
        let range: TargetRange
        do { range = try TargetRange(word) } catch { throw CommandFailure("\(error.description)") }
        if case .name(let name) = range {
            let host = try await HostAddress.find(name, family: family)
            guard let address = host.socketAddress.internetAddress else {
                throw CommandFailure("\(name) has no address")
            }
            return [ScanTarget(name: name, address)]
        }
        let targets = range.addresses.map { ScanTarget(name: nil, $0) }
        guard family == nil, let first = targets.first, !first.isIPv6 else { return targets }
        return await translated(targets)
    }

    /// Replaces IPv4 addresses with their translations on an IPv6-only network with NAT64. The names stay the same.
    private static func translated(_ targets: [ScanTarget]) async -> [ScanTarget] {
        let reached = await AddressTranslation.addresses(for: targets.map(\.socketAddress))
        // The network can have several NAT64 prefixes. The result first lists all targets with the first prefix, and
        // then all targets with the next prefix. Use only the first prefix.
        guard reached.count >= targets.count else { return targets }
        return zip(targets, reached).map { target, address in
            ScanTarget(name: target.name, address.internetAddress ?? target.address)
        }
    }
}

/// Finds the index of a target by its address, and the index of a port by its number.
struct ScanIndex {
    private struct Wide: Hashable {
        var high: UInt64
        var low: UInt64
    }
    private var narrow: [UInt32: Int] = [:]
    private var wide: [Wide: Int] = [:]
    private var places = [Int32](repeating: -1, count: 65_536)

    init(_ targets: ArraySlice<ScanTarget>, _ ports: [UInt16]) {
        for (place, target) in targets.enumerated() {
            switch target.socketAddress {
            case .ipv4(let bits, _): narrow[bits] = place
            case .ipv6(let high, let low, _, _): wide[Wide(high: high, low: low)] = place
            case .unix: break
            }
        }
        for (place, port) in ports.enumerated() { places[Int(port)] = Int32(place) }
    }

    func host(_ address: SocketAddress?) -> Int? {
        switch address {
        case .ipv4(let bits, _): narrow[bits]
        case .ipv6(let high, let low, _, _): wide[Wide(high: high, low: low)]
        case .unix, nil: nil
        }
    }

    func port(_ number: UInt16) -> Int? { places[Int(number)] < 0 ? nil : Int(places[Int(number)]) }
}
