package import CausewayWire

/// A host that offers a service, from an SRV record.
package struct ServiceTarget: Hashable, Sendable {
    package var priority: UInt16
    package var weight: UInt16
    package var port: UInt16
    package var host: DNSName

    package init(priority: UInt16, weight: UInt16, port: UInt16, host: DNSName) {
        self.priority = priority
        self.weight = weight
        self.port = port
        self.host = host
    }

    /// Creates a target from an SRV record. Returns `nil` if the record has another type. Also returns `nil` if the
    /// record's target is the root, which means that the service does not exist (RFC 2782).
    package init?(_ record: DNSRecord) {
        guard case .service(let priority, let weight, let port, let host) = record.data, !host.isRoot else {
            return nil
        }
        self.init(priority: priority, weight: weight, port: port, host: host)
    }

    /// Sorts a service's hosts by priority. Hosts with equal priority are in random order; a larger weight makes a host
    /// more likely to be first (RFC 2782).
    package static func ordered(_ targets: [Self], using random: inout some RandomNumberGenerator) -> [Self] {
        var (rest, order) = (targets, [Self]())
        while let minimum = rest.map(\.priority).min() {
            let candidates = rest.indices.filter { rest[$0].priority == minimum }
            let total = candidates.reduce(0) { $0 + Int(rest[$1].weight) }
            // The draw includes 0, so a host with weight 0 can also be first. This is rare if other hosts have larger
            // weights.
            var draw = Int.random(in: 0...total, using: &random)
            let sorted = candidates.sorted { rest[$0].weight < rest[$1].weight }
            let chosen = sorted.first { index in
                draw -= Int(rest[index].weight)
                return draw <= 0
            }
            order.append(rest.remove(at: total == 0 ? candidates.randomElement(using: &random) ?? 0 : chosen ?? 0))
        }
        return order
    }
}
