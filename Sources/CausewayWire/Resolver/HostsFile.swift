internal import CausewayTypes

/// The host names and addresses in /etc/hosts (hosts(5)).
package struct HostsFile: Equatable, Sendable {
    private var addresses: [DNSName: [InternetAddress]] = [:]
    private var names: [InternetAddress: DNSName] = [:]

    package init() {}

    /// Parses the hosts file's text. Ignores malformed lines.
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
        // Accept only IPv4 addresses with four numbers. Shorter old forms such as `127.1` are errors in this file.
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

    /// Returns the addresses for `name` in file order, ignoring case.
    package func addresses(of name: DNSName) -> [InternetAddress] { addresses[name] ?? [] }

    /// Returns the first name for `address`.
    package func name(of address: InternetAddress) -> DNSName? { names[address] }
}
