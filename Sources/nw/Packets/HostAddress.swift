import CausewaySystem

/// A host's address, found by the system's resolver. Blocks its thread.
struct HostAddress: Sendable {
    var socketAddress: SocketAddress
    var text: String

    var isIPv6: Bool { socketAddress.family == .ipv6 }

    /// - Parameter family: 4, 6, or `nil` for the first that there is.
    init(_ name: String, family: Int? = nil) throws {
        var hints = addrinfo()
        hints.ai_family = family == 4 ? AF_INET : family == 6 ? AF_INET6 : AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(name, nil, &hints, &list)
        guard status == 0, let first = list else {
            throw Failure("\(name): \(String(cString: gai_strerror(status)))")
        }
        defer { freeaddrinfo(list) }
        var text = [CChar](repeating: 0, count: 64)
        guard
            getnameinfo(
                first.pointee.ai_addr, first.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
                == 0,
            let address = SocketAddress(kernel: first.pointee.ai_addr)
        else { throw Failure("\(name): no address") }
        socketAddress = address
        self.text = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension SocketAddress {
    /// Reads an address of the Internet families.
    init?(kernel address: UnsafePointer<sockaddr>) {
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            let bits = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
            }
            self = .ipv4(bits: bits, port: 0)
        case AF_INET6:
            let (high, low, scope) = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) {
                    (
                        UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                        UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
                        pointer.pointee.sin6_scope_id
                    )
                }
            }
            self = .ipv6(high: high, low: low, port: 0, scope: scope)
        default: return nil
        }
    }
}
