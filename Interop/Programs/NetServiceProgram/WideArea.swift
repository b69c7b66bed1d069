import CausewayBonjour
import Foundation

/// Tests services of a unicast domain: they are found and resolved as an async sequence and as a `NetService`.
/// Publishing fails there.
final class WideArea: NSObject, NetServiceDelegate {
    private var service: NetService?

    static func seek(_ type: String, _ domain: String) async throws -> ServiceDiscovery.Identity? {
        for try await change in try ServiceDiscovery.browse(type, domain: domain) {
            guard case .added(let identity) = change else { continue }
            report("added \(identity.name) \(identity.type) \(identity.domain)")
            for try await place in try ServiceDiscovery.resolve(identity) where !place.addresses.isEmpty {
                let addresses = place.addresses.map { "\($0)" }.joined(separator: " ")
                report("place \(place.host) \(place.port) \(addresses)")
                break
            }
            return identity
        }
        return nil
    }

    func resolve(_ identity: ServiceDiscovery.Identity) {
        let service = NetService(domain: identity.domain, type: identity.type, name: identity.name, port: 80)
        service.delegate = self
        self.service = service
        service.publish()
    }

    func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {
        report("not published \(errorDict[NetService.errorCode] ?? 0)")
        sender.resolve(withTimeout: 5)
    }

    func netServiceDidResolveAddress(_ sender: NetService) {
        report("resolved \(sender.hostName ?? "?") \(sender.port)")
        exit(0)
    }

    func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {
        report("not resolved \(errorDict[NetService.errorCode] ?? 0)")
        exit(1)
    }
}
