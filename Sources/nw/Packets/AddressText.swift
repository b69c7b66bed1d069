import CausewaySystem
import CausewayTypes

/// IPv4 and IPv6 addresses as text.
enum AddressText {
    /// Parses an IPv4 address with four decimal numbers.
    ///
    /// `IPv4Address` also parses the `inet_aton` forms, where 1.2.3 is 1.2.0.3. In a command that builds packets, such
    /// an address is more likely a typing error.
    static func ipv4(_ text: String) -> IPv4Address? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let areNumbers = parts.allSatisfy { part in
            UInt8(part) != nil && part.first?.isNumber == true && (part.count == 1 || part.first != "0")
        }
        return parts.count == 4 && areNumbers ? IPv4Address(text) : nil
    }

    static func text(_ address: SocketAddress) -> String {
        var bytes: [UInt8] = []
        let family: CInt
        switch address {
        case .ipv4(let bits, _):
            family = AF_INET
            withUnsafeBytes(of: bits.bigEndian) { bytes += $0 }
        case .ipv6(let high, let low, _, _):
            family = AF_INET6
            withUnsafeBytes(of: high.bigEndian) { bytes += $0 }
            withUnsafeBytes(of: low.bigEndian) { bytes += $0 }
        case .unix(let path): return path
        }
        var text = [CChar](repeating: 0, count: 64)
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
