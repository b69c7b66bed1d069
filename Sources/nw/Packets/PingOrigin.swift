import Causeway
import CausewaySystem
import CausewayTypes

/// The source of `nw ping -I`: an interface or a local address.
struct PingOrigin {
    let text: String
    private let host: NWEndpoint.Host

    init(_ text: String) {
        self.text = text
        host = NWEndpoint.Host(text)
    }

    /// The source's address family; `nil` for an interface, which may have addresses of both families.
    var family: SocketAddress.Family? {
        switch host {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        default: nil
        }
    }

    /// Binds a socket to the interface or address.
    ///
    /// - Throws: ``CommandFailure`` with the interface or address and the reason.
    func apply(to socket: CInt) throws {
        do {
            switch host {
            case .ipv4(let address): try Socket.bind(socket, to: SocketAddress(address, port: 0))
            case .ipv6(let address): try Socket.bind(socket, to: SocketAddress(address, port: 0))
            default: try Socket.bindToInterface(named: text, socket)
            }
        } catch {
            throw CommandFailure("cannot send from \(text): \(String(cString: strerror(error.errno)))")
        }
    }
}
