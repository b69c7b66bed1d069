import CausewayBonjour
import Foundation

/// Tests the service discovery operations that are async sequences.
///
/// "offer" registers a service, changes its TXT record, and then registers a separate record. "seek" finds both,
/// follows their changes, and ends when both are removed.
enum Discovery {
    private static let type = "_nwseek._tcp"

    static func offer() async throws {
        let registration = try await ServiceDiscovery.register("Sought. 1", type: type, port: 4_711)
        report("registered \(registration.identity.name)")
        // Wait, so that the browsing program sees the first record before the second record.
        try await Task.sleep(nanoseconds: 3_000_000_000)
        let text = NetService.data(fromTXTRecord: ["step": Data("2".utf8)])
        registration.update(.init(text))
        try await Task.sleep(nanoseconds: 3_000_000_000)
        await registration.withdraw()
        // Register a separate record. Another program monitors this record through a callback.
        let record = try await ServiceDiscovery.register(record: "sought.local", type: "TYPE65400", content: [1, 2, 3])
        try await Task.sleep(nanoseconds: 3_000_000_000)
        await record.withdraw()
        report("withdrawn")
    }

    static func seek() async throws {
        for try await change in try ServiceDiscovery.browse(type) {
            switch change {
            case .added(let identity):
                report("added \(identity.name) \(identity.type) \(identity.domain)")
                try await follow(identity)
            case .removed(let identity):
                report("removed \(identity.name)")
                return await followRecord()
            }
        }
    }

    private static func follow(_ identity: ServiceDiscovery.Identity) async throws {
        for try await place in try ServiceDiscovery.resolve(identity) {
            if place.text["step"] == nil { try await addresses(of: place.host) }
            report("port \(place.port) step \(place.text["step"] ?? "1")")
            if place.text["step"] == "2" { break }
        }
        for try await change in try ServiceDiscovery.records(of: "Sought\\. 1.\(type).local", type: "SRV") {
            guard case .added(let record) = change else { continue }
            report("record \(record.type) \(record.content.hasPrefix("0 0 4711 "))")
            // The record stays in the results: its owner is still running and answers the new query.
            ServiceDiscovery.reconfirm(record)
            break
        }
    }

    /// Follows the changes of a DNS record through a callback.
    private static func followRecord() async {
        let queue = DispatchQueue(label: "follower")
        let (ends, feed) = AsyncStream<Void>.makeStream()
        let operation = try? ServiceDiscovery.records(of: "sought.local", type: "TYPE65400", queue: queue) {
            result, more in
            dispatchPrecondition(condition: .onQueue(queue))
            switch result {
            case .success(.added(let record)): report("called: added \(record.content) more \(more)")
            case .success(.removed): feed.finish()
            case .failure(let error): report("failed \(error)")
            }
        }
        for await _ in ends {}
        operation?.stop()
        report("called: removed")
    }

    /// Prints the first address of the host that publishes the service.
    static func addresses(of host: String) async throws {
        for try await case .added(let address) in try ServiceDiscovery.addresses(of: host) {
            report("address \(address)")
            break
        }
    }
}
