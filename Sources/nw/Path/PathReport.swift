import Causeway
import CausewaySystem
import CausewayTypes

/// A network path that can be printed as JSON or as text.
struct PathReport: Encodable {
    private let path: NWPath

    init(_ path: NWPath) { self.path = path }

    private enum Key: String, CodingKey {
        case status, interfaces, type, isExpensive, isConstrained, supportsIPv4, supportsIPv6, supportsDNS, gateways
        case local, remote
    }

    func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        try object.encode(status, forKey: .status)
        try object.encode(interfaces, forKey: .interfaces)
        try object.encodeIfPresent(type, forKey: .type)
        try object.encode(path.isExpensive, forKey: .isExpensive)
        try object.encode(path.isConstrained, forKey: .isConstrained)
        try object.encode(path.supportsIPv4, forKey: .supportsIPv4)
        try object.encode(path.supportsIPv6, forKey: .supportsIPv6)
        try object.encode(path.supportsDNS, forKey: .supportsDNS)
        try object.encode(gateways, forKey: .gateways)
        try object.encodeIfPresent(path.localEndpoint?.label, forKey: .local)
        try object.encodeIfPresent(path.remoteEndpoint?.label, forKey: .remote)
    }

    var status: String {
        switch path.status {
        case .satisfied: "satisfied"
        case .unsatisfied: "unsatisfied"
        case .requiresConnection: "requires connection"
        }
    }
    private var interfaces: [String] { path.availableInterfaces.map(\.name) }
    private var type: String? { path.availableInterfaces.first?.type.label }
    private var gateways: [String] { path.gateways.map(\.hostLabel) }

    /// The path as text, such as `satisfied over wlan0 (wifi), then wwan0; ipv4 ipv6 dns`.
    var text: String {
        guard let first = interfaces.first else { return status }
        guard status == "satisfied" else {
            return "\(status): no default route over \(interfaces.joined(separator: ", "))"
        }
        let others = interfaces.dropFirst().map { ", then \($0)" }.joined()
        let facts = [
            (path.supportsIPv4, "ipv4"), (path.supportsIPv6, "ipv6"), (path.supportsDNS, "dns"),
            (path.isExpensive, "expensive"), (path.isConstrained, "constrained"),
        ].filter(\.0).map(\.1)
        let ends = [
            path.localEndpoint.map { "from \($0.label)" }, path.remoteEndpoint.map { "to \($0.label)" },
        ].compactMap(\.self)
        let routers = gateways.isEmpty ? [] : ["gateways \(gateways.joined(separator: " "))"]
        let details = ([facts.joined(separator: " ")] + ends + routers).filter { !$0.isEmpty }
        return "\(status) over \(first) (\(type ?? "other"))\(others); \(details.joined(separator: "; "))"
    }
}

/// An event as a JSON object.
struct PathEvent: Encodable {
    /// Milliseconds since the command started.
    var time: Int
    /// The kind of the event: `path`, `state`, `viable` or `better`.
    var event: String
    var value: String?
    var path: PathReport?

    func text() -> PrintableText {
        "\(Amounts.decimal(Double(time) / 1_000, places: 3).leftPadded(to: 9))  \(event)  \(value ?? path?.text ?? "")"
    }
}

/// Prints each path event together with its time.
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
