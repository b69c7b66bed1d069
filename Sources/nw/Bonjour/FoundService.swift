import Causeway
import CausewayRuntime
import CausewayTypes
import CausewayWire
import FoundationEssentials

/// A found service and its current data.
struct FoundService: Sendable {
    var name: String
    var type: String
    var domain: String
    var interfaces: [String] = []
    var text: NWTXTRecord?
    var place: ServiceLookup.Place?

    init(_ instance: DNSServiceInstance) {
        name = instance.label
        type = String(instance.type.description.dropLast())
        domain = instance.domain.description
    }

    /// Creates the data from a browse result. Returns `nil` if the result is not a service.
    init?(_ result: NWBrowser.Result) {
        guard case .service(let name, let type, let domain, _) = result.endpoint else { return nil }
        (self.name, self.type, self.domain) = (name, type, domain)
        interfaces = result.interfaces.map(\.name)
        if case .bonjour(let record) = result.metadata { text = record }
    }

    var endpoint: NWEndpoint { .service(name: name, type: type, domain: domain, interface: nil) }

    /// The full service instance name, as `nw lookup` accepts it.
    var instance: DNSName? {
        guard let type = DNSName(type), let parent = DNSName(domain).flatMap({ type.appending($0) }) else { return nil }
        return DNSName(name, in: parent)
    }

    /// The TXT record's entries, sorted by key: `path=/x`; `key` for a key without a value; `key=` for an empty value.
    var entries: [String] {
        (text.map { $0.sorted { $0.key < $1.key } } ?? []).map { key, entry in
            switch entry {
            case .none: key
            case .empty: "\(key)="
            case .string(let value): "\(key)=\(value)"
            case .data(let value): "\(key)=\(String(decoding: value, as: UTF8.self))"
            }
        }
    }

    /// The interfaces on which the service was found, such as `[eth0 wlan0]`; empty for a service found through unicast
    /// DNS.
    var links: PrintableText {
        interfaces.isEmpty ? "" : " [\(interfaces.joined(separator: " "))]"
    }

    var host: String? { place?.host?.description }

    /// Numeric addresses; link-local addresses include the interface.
    var addresses: [String] { (place?.addresses ?? []).map { NWEndpoint($0).hostLabel } }
}

extension FoundService {
    /// A service as a JSON object. A TXT key without a value has the value `null`.
    struct Object: Encodable {
        var event: String?
        var name, type, domain: String
        var interfaces: [String]?
        var host: String?
        var port: Int?
        var addresses: [String]?
        var text: [String: String?]
    }

    func object(event: String?) -> Object {
        var values: [String: String?] = [:]
        let pairs: [(key: String, value: NWTXTRecord.Entry)] = text?.map { ($0.key, $0.value) } ?? []
        for (key, entry) in pairs {
            switch entry {
            case .none: values.updateValue(nil, forKey: key)
            case .empty: values[key] = ""
            case .string(let value): values[key] = value
            case .data(let value): values[key] = String(decoding: value, as: UTF8.self)
            }
        }
        let isPlaced = place?.host != nil
        return Object(
            event: event, name: name, type: type, domain: domain, interfaces: event == nil ? nil : interfaces,
            host: host, port: isPlaced ? place.map { Int($0.port) } : nil, addresses: isPlaced ? addresses : nil,
            text: values)
    }
}
