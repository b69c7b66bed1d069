/// A type of services, such as `_http._tcp`, perhaps with subtypes (RFC 6763 §7).
package struct DNSServiceType: Hashable, Sendable {
    /// Two labels: the service and its transport.
    package var name: DNSName
    /// Subtypes as they were written, such as `_printer`.
    package var subtypes: [String]

    /// What is wrong with a text that names no type.
    package enum Mistake: Error, Equatable, Sendable {
        /// It is not `_service._tcp` or `_service._udp`.
        case form
        /// 1 to 15 characters are allowed (RFC 6335 §5.1).
        case length
        /// Letters, digits and single hyphens between them, and one letter at least (RFC 6335 §5.1).
        case character
        /// The instance's name is empty, has control characters, or more than 63 octets (RFC 6763 §4.1.1).
        case name
    }

    /// Reads `_service._tcp`, a last dot allowed, subtypes behind commas.
    package init(_ text: String) throws(Mistake) {
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)
        var type = parts.removeFirst()
        if type.last == "." { type.removeLast() }
        let labels = type.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count == 2, labels[0].first == "_", ["_tcp", "_udp"].contains(labels[1].lowercased()) else {
            throw .form
        }
        try Self.check(labels[0].dropFirst())
        guard let name = DNSName(type), parts.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 63 }) else { throw .form }
        self.name = name
        subtypes = parts.map(String.init)
    }

    private static func check(_ service: Substring) throws(Mistake) {
        guard (1...15).contains(service.utf8.count) else { throw .length }
        let isSpelledRight = service.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
        guard isSpelledRight, service.utf8.contains(where: isLetter), service.first != "-", service.last != "-",
            !service.contains("--")
        else { throw .character }
    }

    private static func isLetter(_ octet: UInt8) -> Bool { (0x61...0x7A).contains(octet | 0x20) }
}
