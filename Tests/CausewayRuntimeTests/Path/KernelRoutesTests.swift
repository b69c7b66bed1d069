import CausewayProtocols
import CausewaySystem
import CausewayTypes
import CausewayWire
import Foundation
import Testing

@testable import CausewayRuntime

extension Runtime {
    /// Changes a namespace's network at random. For each packet, the model must choose the same route as the kernel.
    ///
    /// `CAUSEWAY_MODEL_STEPS` sets the number of packets.
    @Suite(
        "Namespace: the model agrees with the kernel",
        .enabled(if: ScratchNamespace.isAvailable, "network namespaces need root and ip(8)"))
    struct KernelRoutesTests {
        static let packetCount =
            ProcessInfo.processInfo.environment["CAUSEWAY_MODEL_STEPS"].flatMap { Int($0) } ?? 2_000
        private static let packetsPerState = 50

        @Test(
            "In any history, the model and the kernel route each packet equally", arguments: [1, 2, 3, 4] as [UInt64])
        func agrees(seed: UInt64) async throws {
            let namespace = try ScratchNamespace()
            defer { try? namespace.remove() }
            var history = RandomNetwork(seed: seed)
            try namespace.ip("link set lo up")
            for line in RandomNetwork.start { try namespace.ip(line) }
            var commands: [String] = []
            for _ in 0..<max(1, Self.packetCount / Self.packetsPerState / 4) {
                let changes = (0..<4).map { _ in history.change() }
                commands += changes
                for change in changes { try? namespace.ip(change) }
                let (next, differences) = try await namespace.enter { [history] in
                    var history = history
                    let differences = try Self.differences(&history)
                    return (history, differences)
                }
                history = next
                // Report only the latest commands, because the complete history would hide the relevant part.
                guard differences.isEmpty else {
                    Issue.record("seed \(seed): \(differences.prefix(3))\nafter \(commands.suffix(60))")
                    return
                }
            }
        }

        /// Returns differences between the model's routes and the kernel's routes. Runs on a thread in the test's
        /// network namespace.
        private static func differences(_ history: inout RandomNetwork) throws -> [String] {
            var socket = try NetlinkSocket()
            guard let model = NetworkModel.current(after: nil) else { throw POSIXError(.EIO) }
            var found: [String] = []
            for _ in 0..<packetsPerState {
                let packet = history.packet(in: model)
                guard difference(model, packet, &socket) != nil else { continue }
                // Compare again with a newer network model. Duplicate address detection may have completed in the
                // meantime, or the kernel may have detected that a link is down.
                guard let later = NetworkModel.current(after: nil) else { throw POSIXError(.EIO) }
                if let difference = difference(later, packet, &socket) { found.append(difference) }
            }
            return found
        }

        private static func difference(
            _ model: NetworkModel, _ packet: RouteQuestion, _ socket: inout NetlinkSocket
        ) -> String? {
            let mine = describe(model, packet)
            let kernels = describe(&socket, packet)
            // If an interface has no matching route, the kernel assumes that an IPv4 destination is directly on the
            // link. The model does not make this guess.
            let isGuess = packet.interfaceIndex != nil && packet.destination.family == .ipv4 && mine == "none"
            return mine == kernels || isGuess ? nil : "\(packet): \(mine), the kernel: \(kernels)"
        }

        private static func describe(_ model: NetworkModel, _ packet: RouteQuestion) -> String {
            guard case .route(let route, let hop) = model.route(for: packet) else { return "none" }
            guard route.kind == .unicast else { return "kind \(route.kind.rawValue)" }
            let source = packet.source ?? model.source(for: packet.destination, route, hop)
            return line(hop.interfaceIndex, hop.gateway, packet.source == nil ? source?.unscoped : nil)
        }

        private static func describe(_ socket: inout NetlinkSocket, _ packet: RouteQuestion) -> String {
            let answer = try? socket.way(to: packet.destination, from: packet.source, over: packet.interfaceIndex)
            guard let answer else { return "none" }
            guard answer.kind == .unicast else { return "kind \(answer.kind.rawValue)" }
            let hop = answer.nextHops.first
            return line(hop?.interfaceIndex, hop?.gateway, packet.source == nil ? answer.preferredSource : nil)
        }

        private static func line(_ index: Int?, _ gateway: InternetAddress?, _ source: InternetAddress?) -> String {
            "\(index ?? 0) via \(gateway.map(\.description) ?? "-") from \(source.map(\.description) ?? "-")"
        }
    }
}

/// Changes of a network with four links, generated from a seed.
private struct RandomNetwork: Sendable {
    static let start =
        (0..<4).map { "link add d\($0) type veth peer name e\($0)" } + (0..<4).map { "link set e\($0) up" }
        + (0..<3).map { "link set d\($0) up" }
        + (0..<3).map { "addr add 10.\($0).0.1/16 dev d\($0)" }
        + (0..<3).map { "-6 addr add fd00:\($0)::1/32 dev d\($0) nodad" }

    private static let tables = ["main", "main", "main", "100", "101", "default"]
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    private mutating func pick(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % count
    }

    private mutating func one<Element>(of elements: [Element]) -> Element { elements[pick(elements.count)] }

    mutating func change() -> String {
        switch pick(12) {
        case 0: "link set d\(pick(4)) \(one(of: ["up", "up", "down"]))"
        case 1: "addr \(one(of: ["add", "del"])) \(ipv4Address(pick(4))) dev d\(pick(4))"
        case 2: "-6 addr \(one(of: ["add", "del"])) \(ipv6Address(pick(4))) dev d\(pick(4)) nodad"
        case 3...6: ipv4Route()
        case 7...9: ipv6Route()
        default: rule()
        }
    }

    private mutating func ipv4Address(_ link: Int) -> String {
        "10.\(link).\(pick(2)).\(1 + pick(3))/\(one(of: [16, 24]))"
    }

    private mutating func ipv6Address(_ link: Int) -> String { "fd00:\(link)::\(1 + pick(3))/\(one(of: [32, 64]))" }

    private mutating func ipv4Route() -> String {
        let verb = one(of: ["add", "add", "append", "replace", "del"])
        let prefix = one(of: [
            "default", "0.0.0.0/1", "128.0.0.0/1", "192.0.2.0/24", "192.0.0.0/16", "192.0.2.\(pick(3))/32",
            "10.1.1.0/24",
        ])
        let metric = " metric \(one(of: [0, 10, 20])) table \(one(of: Self.tables))"
        if verb != "del", pick(6) == 0 {
            return "route \(verb) \(one(of: ["blackhole", "unreachable", "prohibit", "throw"])) \(prefix)\(metric)"
        }
        let link = pick(4)
        let place = pick(3) == 0 ? "dev d\(link)" : "via 10.\(link).\(pick(2)).\(200 + pick(3)) dev d\(link)"
        return verb == "del" ? "route del \(prefix)\(metric)" : "route \(verb) \(prefix) \(place)\(metric)"
    }

    private mutating func ipv6Route() -> String {
        let verb = one(of: ["add", "add", "replace", "del"])
        let prefix = one(of: [
            "default", "2000::/3", "2001:db8::/32", "2001:db8:1::/48", "2001:db8:1::\(1 + pick(3))/128",
        ])
        let metric = " metric \(one(of: [5, 10, 20])) table \(one(of: Self.tables))"
        if verb != "del", pick(6) == 0 {
            return "-6 route \(verb) \(one(of: ["blackhole", "unreachable", "prohibit"])) \(prefix)\(metric)"
        }
        let link = pick(4)
        let place = pick(3) == 0 ? "dev d\(link)" : "via fd00:\(link)::\(200 + pick(3)) dev d\(link)"
        return verb == "del" ? "-6 route del \(prefix)\(metric)" : "-6 route \(verb) \(prefix) \(place)\(metric)"
    }

    private mutating func rule() -> String {
        let isV4 = pick(2) == 0
        let words = isV4 ? "rule" : "-6 rule"
        let priority = 100 + pick(6) * 10
        if pick(3) == 0 { return "\(words) del priority \(priority)" }
        let link = pick(4)
        let selector = one(of: [
            isV4 ? "from 10.\(link).0.0/16" : "from fd00:\(link)::/32", isV4 ? "to 192.0.2.0/24" : "to 2001:db8::/32",
            "oif d\(link)", "iif lo", isV4 ? "not from 10.\(link).0.0/16" : "not from fd00:\(link)::/32", "fwmark 7",
            "not fwmark 7",
            "uidrange 0-0", "uidrange 5-9", "ipproto tcp",
        ])
        let action = one(of: [
            "lookup 100", "lookup 101", "lookup main suppress_prefixlength \(one(of: [0, 1, 16]))", "unreachable",
            "prohibit", "blackhole",
            "goto \(priority + 20)", "nop", "lookup 100",
        ])
        return "\(words) add priority \(priority) \(selector) \(action)"
    }

    mutating func packet(in model: NetworkModel) -> RouteQuestion {
        let link = pick(4)
        let text =
            pick(2) == 0
            ? one(of: [
                "192.0.2.\(pick(4))", "192.0.9.9", "8.8.8.8", "203.0.113.1", "10.\(link).\(pick(2)).\(1 + pick(4))",
                "10.\(link).1.77", "127.0.0.1",
            ])
            : one(of: [
                "2001:db8:1::\(1 + pick(4))", "2001:db8:9::9", "2600::1", "fd00:\(link)::\(1 + pick(4))",
                "fd00:\(link):1::9", "::1",
            ])
        let destination: InternetAddress =
            IPv4Address(text).map { .ipv4($0) } ?? .ipv6(IPv6Address(text) ?? .loopback)
        var packet = RouteQuestion(to: destination)
        let known = model.interfaces.filter {
            $0.link.flags.contains(.up) && $0.interface.name.hasPrefix("d") && !$0.addresses.isEmpty
        }
        switch pick(4) {
        case 0:
            let own = known.flatMap(\.addresses).map(\.address).filter {
                $0.family == destination.family && !$0.isLinkLocal
            }
            packet.source = own.isEmpty ? nil : one(of: own)
        case 1: packet.interfaceIndex = known.isEmpty ? nil : one(of: known).index
        default: break
        }
        return packet
    }
}
