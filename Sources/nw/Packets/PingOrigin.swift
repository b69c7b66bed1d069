import Causeway
import CausewaySystem
import CausewayTypes

/// Where `nw ping -I` sends from: an interface of this host or one of its addresses.
struct PingOrigin {
    let text: String
    private let host: NWEndpoint.Host

    init(_ text: String) {
        self.text = text
        host = NWEndpoint.Host(text)
    }

    /// The family of an address. `nil` for an interface, which has both.
    var family: SocketAddress.Family? {
        switch host {
        case .ipv4: .ipv4
        case .ipv6: .ipv6
        default: nil
        }
    }

    /// Makes a socket send from here.
    ///
    /// - Throws: ``Failure`` that names the interface or address and says why it cannot be used.
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
