import Causeway
import CausewaySystem
import CausewayTypes

/// A path as a JSON object.
struct PathReport: Encodable {
    var status: String
    var interfaces: [String]
    var type: String?
    var isExpensive: Bool
    var isConstrained: Bool
    var supportsIPv4: Bool
    var supportsIPv6: Bool
    var supportsDNS: Bool
    var gateways: [String]
    var local: String?
    var remote: String?

    init(_ path: NWPath) {
        status =
            switch path.status {
            case .satisfied: "satisfied"
            case .unsatisfied: "unsatisfied"
            case .requiresConnection: "requires connection"
            }
        interfaces = path.availableInterfaces.map(\.name)
        type = path.availableInterfaces.first?.type.label
        (isExpensive, isConstrained) = (path.isExpensive, path.isConstrained)
        (supportsIPv4, supportsIPv6, supportsDNS) = (path.supportsIPv4, path.supportsIPv6, path.supportsDNS)
        gateways = path.gateways.map(\.hostLabel)
        local = path.localEndpoint?.label
        remote = path.remoteEndpoint?.label
    }

    /// The path as text, such as `satisfied over wlan0 (wifi), then wwan0; ipv4 ipv6 dns`.
    var text: String {
        guard let first = interfaces.first else { return status }
        guard status == "satisfied" else {
            return "\(status): no default route over \(interfaces.joined(separator: ", "))"
        }
        let others = interfaces.dropFirst().map { ", then \($0)" }.joined()
        let facts = [
            (supportsIPv4, "ipv4"), (supportsIPv6, "ipv6"), (supportsDNS, "dns"), (isExpensive, "expensive"),
            (isConstrained, "constrained"),
        ].filter(\.0).map(\.1)
        let ends = [local.map { "from \($0)" }, remote.map { "to \($0)" }].compactMap(\.self)
        let routers = gateways.isEmpty ? [] : ["gateways \(gateways.joined(separator: " "))"]
        let details = ([facts.joined(separator: " ")] + ends + routers).filter { !$0.isEmpty }
        return "\(status) over \(first) (\(type ?? "other"))\(others); \(details.joined(separator: "; "))"
    }
}

/// An event as a JSON object.
struct PathEvent: Encodable {
    /// Milliseconds since the command started.
    var time: Int
    /// The event kind: `path`, `state`, `viable` or `better`.
    var event: String
    var value: String?
    var path: PathReport?

    func text() -> PrintableText {
        "\(Amounts.decimal(Double(time) / 1_000, places: 3).leftPadded(to: 9))  \(event)  \(value ?? path?.text ?? "")"
    }
}

/// Prints each event with its time.
struct PathEventLine: Sendable {
    let isJSON: Bool
    private let start = ContinuousClock.now

    init(isJSON: Bool) {
        self.isJSON = isJSON
    }

    func print(_ event: String, _ value: String? = nil, path: NWPath? = nil) {
        let line = PathEvent(
            time: Int((ContinuousClock.now - start).inSeconds * 1_000), event: event, value: value,
            path: path.map { PathReport($0) })
        printLine(isJSON ? PrintableText(json: line) : line.text())
    }
}

extension NWEndpoint {
    /// The host without a port.
    var hostLabel: String {
        guard case .hostPort(let host, _) = self else { return label }
        return host.debugDescription
    }
}

extension NWInterface.InterfaceType {
    var label: String {
        switch self {
        case .wifi: "wifi"
        case .cellular: "cellular"
        case .wiredEthernet: "ethernet"
        case .loopback: "loopback"
        case .other: "other"
        @unknown default: "other"
        }
    }
}

extension String {
    fileprivate func leftPadded(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
