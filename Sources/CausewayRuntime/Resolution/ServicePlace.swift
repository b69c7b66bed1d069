package import CausewaySystem
internal import CausewayTypes
package import CausewayWire

extension ServiceLookup {
    /// A service's host, port, addresses and TXT record, as far as they are known.
    package struct Place: Sendable, Equatable {
        package var host: DNSName?
        package var port: UInt16 = 0
        /// The host's addresses on all links, each with the service's port.
        package var addresses: [SocketAddress] = []
        package var text: [UInt8]?
    }

    /// A service's locations, found on this host's links or in DNS. This type performs no I/O.
    ///
    /// Several links may lead to the service. Each link has its own records: if a link goes down, the service still has
    /// locations on the others, and a link-local address is valid on its link only.
    struct Locations: Sendable {
        /// What to do with the pending address queries on one link after a record of the service has changed on this
        /// link.
        enum Step: Equatable {
            case keep
            case stop
            /// The service's host has changed. Stop the pending address queries, and query the addresses of the new
            /// host, whose name is the value.
            case ask(DNSName)
        }

        private struct Service: Equatable, Sendable {
            let port: UInt16
            let host: DNSName

            /// Creates the value from an SRV record. Returns `nil` if the record has another type, or if its target is
            /// the root domain. A root target means that the service does not exist (RFC 2782).
            init?(_ record: DNSRecord) {
                guard case .service(_, _, let port, let host) = record.data, host != .root else { return nil }
                self.port = port
                self.host = host
            }
        }

        private struct Location: Sendable {
            /// The interface of the link on which the records arrived. `nil` for records from DNS servers.
            let interface: NWInterface?
            /// The SRV records in order of arrival. The last record is used: while a service changes, a link has both
            /// the old and the new record.
            var services: [Service] = []
            /// The received addresses. They do not contain the service's port, so that they can be compared with
            /// removed records.
            var addresses: [SocketAddress] = []
        }

        /// The maximum numbers of SRV records and addresses on a link. A service does not need more. A larger number is
        /// probably an attack.
        private static let serviceLimit = 16
        private static let addressLimit = 256

        private(set) var place = Place()
        /// The service's locations in the order of discovery, at most one for each link. A location without SRV records
        /// is removed.
        private var locations: [Location] = []

        mutating func heard(_ changes: RecordChanges) -> Step {
            let before = host(on: changes.interface)
            // Add new records before removing old records. If one message replaces a location's only record, the
            // location must not be removed in between.
            for record in changes.added { add(serviceOf: record, on: changes.interface) }
            for record in changes.removed { remove(serviceOf: record, on: changes.interface) }
            let after = host(on: changes.interface)
            if before != after { forgetAddresses(on: changes.interface) }
            for record in changes.removed { remove(addressOf: record, on: changes.interface) }
            for record in changes.added { add(contentOf: record, on: changes.interface) }
            update()
            guard before != after else { return .keep }
            return after.map(Step.ask) ?? .stop
        }

        private func host(on interface: NWInterface?) -> DNSName? {
            locations.first { $0.interface == interface }?.services.last?.host
        }

        // MARK: Services

        private mutating func add(serviceOf record: DNSRecord, on interface: NWInterface?) {
            guard let service = Service(record) else { return }
            if !locations.contains(where: { $0.interface == interface }) {
                locations.append(Location(interface: interface))
            }
            change(on: interface) { location in
                location.services.removeAll { $0 == service }
                if location.services.count >= Self.serviceLimit { location.services.removeFirst() }
                location.services.append(service)
            }
        }

        private mutating func remove(serviceOf record: DNSRecord, on interface: NWInterface?) {
            guard let service = Service(record) else { return }
            change(on: interface) { location in location.services.removeAll { $0 == service } }
            locations.removeAll { $0.services.isEmpty }
        }

        private mutating func change(on interface: NWInterface?, _ body: (inout Location) -> Void) {
            guard let index = locations.firstIndex(where: { $0.interface == interface }) else { return }
            body(&locations[index])
        }

        // MARK: Addresses

        private mutating func forgetAddresses(on interface: NWInterface?) {
            change(on: interface) { $0.addresses = [] }
        }

        private mutating func remove(addressOf record: DNSRecord, on interface: NWInterface?) {
            guard let address = record.address(on: interface) else { return }
            change(on: owner(of: interface)) { location in location.addresses.removeAll { $0 == address } }
        }

        private mutating func add(contentOf record: DNSRecord, on interface: NWInterface?) {
            if case .text(let text) = record.data { place.text = text == [0] ? [] : text }
            guard let address = record.address(on: interface) else { return }
            change(on: owner(of: interface)) { location in
                guard location.addresses.count < Self.addressLimit, !location.addresses.contains(address) else {
                    return
                }
                location.addresses.append(address)
            }
        }

        /// Returns the interface of the location to which an address belongs. The address was found on `interface`.
        ///
        /// If the service has a location on `interface`, the result is `interface`. Otherwise the result is `nil`,
        /// which stands for the location found in DNS. The host of that location can also have addresses that are found
        /// on the links.
        private func owner(of interface: NWInterface?) -> NWInterface? {
            locations.contains { $0.interface == interface } ? interface : nil
        }

        // MARK: The place

        /// Updates ``place``, the location reported to the program. Uses the first location that has addresses. If none
        /// has, uses the first location. If there is no location, keeps the latest host and port.
        private mutating func update() {
            place.addresses = []
            guard let best = locations.first(where: { !$0.addresses.isEmpty }) ?? locations.first,
                let service = best.services.last
            else { return }
            (place.host, place.port) = (service.host, service.port)
            var known: Set<SocketAddress> = []
            for location in locations {
                guard let other = location.services.last, other.host == service.host else { continue }
                // Add the port to the addresses here and not earlier, because it may arrive after the addresses.
                let addresses = location.addresses.map { $0.withPort(other.port) }
                place.addresses += addresses.filter { known.insert($0).inserted }
            }
        }
    }
}

extension DNSRecord {
    fileprivate func address(on interface: NWInterface?) -> SocketAddress? {
        switch data {
        case .ipv4(let address): SocketAddress(address, port: 0)
        case .ipv6(let address):
            SocketAddress(IPv6Address(high: address.high, low: address.low, interface: interface), port: 0)
        default: nil
        }
    }
}

extension SocketAddress {
    fileprivate func withPort(_ port: UInt16) -> SocketAddress {
        switch self {
        case .ipv4(let bits, _): .ipv4(bits: bits, port: port)
        case .ipv6(let high, let low, _, let scope): .ipv6(high: high, low: low, port: port, scope: scope)
        case .unix: self
        }
    }
}
