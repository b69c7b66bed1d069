internal import CCausewayLinux
package import CausewayTypes

/// A socket address: IP address and port with scope, or a path.
package enum SocketAddress: Hashable, Sendable {
    case ipv4(bits: UInt32, port: UInt16)
    /// `scope` is the kernel's interface index; 0 if the address needs none.
    case ipv6(high: UInt64, low: UInt64, port: UInt16, scope: UInt32)
    /// A path that begins with a zero byte is in Linux's abstract namespace.
    case unix(path: String)

    package init(_ address: IPv4Address, port: UInt16) {
        self = .ipv4(bits: address.bits, port: port)
    }

    package init(_ address: IPv6Address, port: UInt16) {
        // Only link-local and multicast addresses depend on the interface (RFC 4007 §5).
        let scoped = address.isLinkLocal || address.isMulticast
        let scope = scoped ? UInt32(truncatingIfNeeded: address.interface?.index ?? 0) : 0
        self = .ipv6(high: address.high, low: address.low, port: port, scope: scope)
    }

    package var family: Family {
        switch self {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        case .unix: .unix
        }
    }

    package var port: UInt16 {
        switch self {
        case .ipv4(_, let port), .ipv6(_, _, let port, _): port
        case .unix: 0
        }
    }

    /// Converts an IPv4-mapped address, which a dual-stack socket uses, to the IPv4 address (`::ffff:0:0/96`, RFC 4291
    /// §2.5.5.2). Returns all other addresses unchanged.
    package var unmapped: SocketAddress {
        guard case .ipv6(0, let low, let port, _) = self, low >> 32 == 0xffff else { return self }
        return .ipv4(bits: UInt32(truncatingIfNeeded: low), port: port)
    }

    /// The IPv4-mapped form, which a dual-stack socket uses for an IPv4 peer.
    package var mapped: SocketAddress {
        guard case .ipv4(let bits, let port) = self else { return self }
        return .ipv6(high: 0, low: 0xffff_0000_0000 | UInt64(bits), port: port, scope: 0)
    }

    package enum Family: Sendable {
        case ipv4, ipv6, unix

        var shimValue: CInt {
            switch self {
            case .ipv4: CInt(CW_IPV4.rawValue)
            case .ipv6: CInt(CW_IPV6.rawValue)
            case .unix: CInt(CW_UNIX.rawValue)
            }
        }
    }
}

extension SocketAddress {
    /// The bytes in the kernel's form (`sockaddr_in` and similar); `nil` if a path is too long.
    package var kernelBytes: [UInt8]? {
        guard let form = try? kernelForm() else { return nil }
        return withUnsafeBytes(of: form.storage) { [UInt8]($0.prefix(Int(form.length))) }
    }

    /// Converts the address to the kernel's form.
    ///
    /// - Throws: ``SystemError`` if a path is too long.
    func kernelForm() throws(SystemError) -> cw_address {
        var out = cw_address()
        switch self {
        case .ipv4(let bits, let port):
            cw_address_v4(&out, bits, port)
        case .ipv6(let high, let low, let port, let scope):
            cw_address_v6(&out, high, low, port, scope)
        case .unix(let path):
            var path = path
            let status = path.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { text in
                    text.baseAddress.map { cw_address_unix(&out, $0, text.count) } ?? -EINVAL
                }
            }
            try check(status, "socket path")
        }
        return out
    }

    /// - Returns: `nil` for an unsupported address family.
    init?(_ kernel: inout cw_address) {
        guard let address = withUnsafePointer(to: &kernel, { SocketAddress(pointer: $0) }) else { return nil }
        self = address
    }

    init?(pointer: UnsafePointer<cw_address>) {
        switch cw_address_family(pointer) {
        case CInt(CW_IPV4.rawValue):
            var bits: UInt32 = 0
            var port: UInt16 = 0
            cw_address_read_v4(pointer, &bits, &port)
            self = .ipv4(bits: bits, port: port)
        case CInt(CW_IPV6.rawValue):
            var (high, low): (UInt64, UInt64) = (0, 0)
            var port: UInt16 = 0
            var scope: UInt32 = 0
            cw_address_read_v6(pointer, &high, &low, &port, &scope)
            self = .ipv6(high: high, low: low, port: port, scope: scope)
        case CInt(CW_UNIX.rawValue):
            let path = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
                let count = cw_address_read_unix(pointer, buffer.baseAddress!, buffer.count)
                return String(
                    decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<count]), as: UTF8.self)
            }
            self = .unix(path: path)
        default:
            return nil
        }
    }
}
