/// A service type such as `_http._tcp`, with optional subtypes (RFC 6763 §7).
package struct DNSServiceType: Hashable, Sendable {
    /// The type as two labels: the service and its transport.
    package var name: DNSName
    /// The subtypes as the caller wrote them, such as `_printer`.
    package var subtypes: [String]

    /// The reason why a string is not a valid service type or instance name.
    package enum Mistake: Error, Equatable, Sendable {
        /// The string does not have the form `_service._tcp` or `_service._udp`.
        case form
        /// The service name is empty, or longer than a label may be.
        case length
        /// The service name has no letter, or it contains characters other than letters, digits and single inner
        /// hyphens (RFC 6335 §5.1).
        case character
        /// The instance name is empty, has control characters, or has more than 63 bytes (RFC 6763 §4.1.1).
        case name
    }

    /// Parses the type for a service to register: `_service._tcp`, an optional trailing dot, and subtypes after commas.
    ///
    /// A service name may have more than 15 characters, because some devices register such types: see ``exceedsLimit``.
    package init(_ text: String) throws(Mistake) {
        try self.init(browsing: text)
        try Self.check(service)
    }

    /// Parses a service type to browse for. Accepts service names that RFC 6335 §5.1 forbids, because some devices
    /// register such names.
    package init(browsing text: String) throws(Mistake) {
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)
        var type = parts.removeFirst()
        if type.last == "." { type.removeLast() }
        let labels = type.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count == 2, labels[0].first == "_", ["_tcp", "_udp"].contains(labels[1].lowercased()) else {
            throw .form
        }
        guard (1...62).contains(labels[0].dropFirst().utf8.count) else { throw .length }
        guard labels[0].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .character }
        guard let name = DNSName(type), parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 63 }) else { throw .form }
        self.name = name
        subtypes = parts.map(String.init)
    }

    /// The service name without its underscore, such as `http`.
    private var service: Substring {
        String(decoding: (name.firstLabel ?? []).dropFirst(), as: UTF8.self)[...]
    }

    /// Whether the service name has more than the 15 characters that RFC 6335 §5.1 allows.
    package var exceedsLimit: Bool { service.utf8.count > 15 }

    private static func check(_ service: Substring) throws(Mistake) {
        let isSpelledRight = service.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        guard isSpelledRight, service.utf8.contains(where: isLetter), service.first != "-", service.last != "-",
            !service.contains("--")
        else { throw .character }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }
}
