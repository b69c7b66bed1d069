internal import CausewayTypes

/// Names and addresses that the host itself knows, as /etc/hosts says it (hosts(5)).
package struct HostsFile: Equatable, Sendable {
    private var addresses: [DNSName: [InternetAddress]] = [:]
    private var names: [InternetAddress: DNSName] = [:]

    package init() {}

    /// Reads a file's text. Never fails: lines that make no sense are passed over.
    package init(parsing text: String) {
        for line in text.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") }) {
            let meaning = line.prefix { $0 != UInt8(ascii: "#") }
            let words = meaning.split {
                $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r")
            }
            guard let first = words.first, let address = Self.address(String(Substring(first))) else { continue }
            for word in words.dropFirst() { add(String(Substring(word)), address) }
        }
    }

    private static func address(_ text: String) -> InternetAddress? {
        // Only four numbers make an address here; older forms are mistakes.
        if text.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 3, let address = IPv4Address(text) {
            return .ipv4(address)
        }
        return IPv6Address(text).map { .ipv6($0) }
    }

    private mutating func add(_ text: String, _ address: InternetAddress) {
        guard let (name, _) = DNSName.host(text) else { return }
        if names[address] == nil { names[address] = name }
        if addresses[name, default: []].contains(address) { return }
        addresses[name, default: []].append(address)
    }

    /// The addresses of a name in the file's order. Names are compared without case.
    package func addresses(of name: DNSName) -> [InternetAddress] { addresses[name] ?? [] }

    /// The first name of an address.
    package func name(of address: InternetAddress) -> DNSName? { names[address] }
}
