internal import CausewayProtocols

/// Results as text, for display.
extension NameQuery {
    static func text(_ origin: AddressOrigin) -> String {
        switch origin {
        case .host: "host"
        case .cache: "cache"
        case .expiredCache: "expired cache"
        case .query(.udp): "udp"
        case .query(.tcp): "tcp"
        case .link: "mdns"
        }
    }

    static func text(_ finding: DNSAnswer.Finding) -> String {
        switch finding {
        case .records(let records): records.count == 1 ? "1 record" : "\(records.count) records"
        case .noSuchName: "no such name"
        case .noSuchRecord: "no such record"
        case .failed(.timedOut): "no answer in time"
        case .failed(.unreachable): "no server reachable"
        case .failed(.connectionRefused): "connection refused"
        case .failed(.truncated): "truncated, and no answer over TCP"
        case .failed(.aliasLoop): "CNAME loop"
        case .failed(.code(let code)): code == 2 ? "server failure" : code == 5 ? "refused" : "error \(code)"
        }
    }

    static func text(_ rule: AddressOrder.Rule) -> String {
        let words =
            switch rule {
            case .unusable: "the other address has no route"
            case .scope: "matching scope"
            case .deprecated: "the other address has a deprecated source"
            case .home: "home address"
            case .label: "matching label"
            case .precedence: "higher precedence"
            case .native: "native transport"
            case .smallerScope: "smaller scope"
            case .longestPrefix: "longest prefix"
            case .order: "server's order"
            }
        return "rule \(rule.rawValue): \(words)"
    }
}
