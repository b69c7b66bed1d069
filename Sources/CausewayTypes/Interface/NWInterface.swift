/// A network interface of this host, with its properties at the time when this value was created.
///
/// There is no public initializer: values come from a path, a parsed scope (`fe80::1%eth0`), or an endpoint. A value is a single reference,
/// so that addresses and endpoints stay small.
///
/// Counterpart: macOS 10.14, iOS 12.
public struct NWInterface: Hashable, CustomDebugStringConvertible, Sendable {
    /// The interface type.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum InterfaceType: Sendable {
        /// A tunnel, a bridge, or an unknown type.
        case other
        /// Wi-Fi.
        case wifi
        /// A cellular network.
        case cellular
        /// Ethernet, including virtual links that behave like Ethernet.
        case wiredEthernet
        /// The loopback interface.
        case loopback
    }

    private final class Storage: Sendable {
        let name: String
        let index: Int
        let type: InterfaceType

        init(name: String, index: Int, type: InterfaceType) {
            self.name = name
            self.index = index
            self.type = type
        }
    }

    private let storage: Storage

    package init(name: String, index: Int, type: InterfaceType) {
        storage = Storage(name: name, index: index, type: type)
    }

    /// The interface type.
    public var type: NWInterface.InterfaceType { storage.type }

    /// The kernel's name of the interface, such as `eth0`.
    public var name: String { storage.name }

    /// The kernel's index of the interface, as `if_nametoindex` returns it.
    public var index: Int { storage.index }

    /// The interface name.
    public var debugDescription: String { storage.name }

    /// Whether both values describe one interface: the index, the type and the name are equal.
    public static func == (lhs: NWInterface, rhs: NWInterface) -> Bool {
        lhs.storage === rhs.storage
            || (lhs.index == rhs.index && lhs.type == rhs.type && lhs.name == rhs.name)
    }

    /// Hashes the index and the name.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(index)
        hasher.combine(name)
    }
}
