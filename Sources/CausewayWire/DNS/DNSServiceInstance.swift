/// A service instance: the name, type and domain in a PTR record's target (RFC 6763 §4.1).
package struct DNSServiceInstance: Hashable, Sendable {
    package var label: String
    /// The service type, which has two labels.
    package var type: DNSName
    package var domain: DNSName

    /// Splits `name` into instance name, type and domain.
    ///
    /// - Parameter expected: The type that was queried.
    /// - Returns: The service instance; `nil` unless `name` consists of one label, the type `expected` and a domain.
    package init?(_ name: DNSName, of expected: DNSName) {
        let rest = name.droppingFirst()
        guard let label = name.firstLabel, let type = DNSName(labels: rest.labels.prefix(2)), type == expected,
            !rest.droppingFirst(2).isRoot
        else { return nil }
        self.label = String(decoding: label, as: UTF8.self)
        self.type = type
        domain = rest.droppingFirst(2)
    }

    /// Parses `NAME._service._tcp.domain` in ``DNSName`` presentation format (RFC 6763 §4.3). Dots in the instance name need no escape.
    package init?(text: String) {
        guard let name = DNSName(text) else { return nil }
        let labels = Array(name.labels)
        let transport = labels.indices.dropFirst(2).first { index in
            ["_tcp", "_udp"].contains(String(decoding: labels[index], as: UTF8.self).lowercased())
                && labels[index - 1].first == UInt8(ascii: "_")
        }
        guard let transport, let type = DNSName(labels: labels[(transport - 1)...transport]) else { return nil }
        label = labels[..<(transport - 1)].map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
        self.type = type
        domain = name.droppingFirst(transport + 1)
        if domain.isRoot { domain = "local" }
    }

    /// The full domain name, or `nil` if it is too long.
    package var name: DNSName? { type.appending(domain).flatMap { DNSName(label, in: $0) } }
}
