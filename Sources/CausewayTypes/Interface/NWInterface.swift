/// A network interface of this host, as it was when this value was made.
///
/// There is no public initializer: values come from a path, a parsed scope (`fe80::1%eth0`), or an endpoint. One value
/// is a single reference, so that addresses and endpoints stay small.
///
/// Counterpart: macOS 10.14, iOS 12.
public struct NWInterface: Hashable, CustomDebugStringConvertible, Sendable {
    /// What an interface is made of.
    ///
    /// Counterpart: macOS 10.14, iOS 12.
    public enum InterfaceType: Sendable {
        /// A tunnel, a bridge, or something unknown.
        case other
        /// Wi-Fi.
        case wifi
        /// A mobile telephone network.
        case cellular
        /// Ethernet, including virtual links that behave like it.
        case wiredEthernet
        /// The host itself.
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

    /// The medium.
    public var type: NWInterface.InterfaceType { storage.type }

    /// The kernel's name, such as `eth0`.
    public var name: String { storage.name }

    /// The kernel's index, as `if_nametoindex` gives it.
    public var index: Int { storage.index }

    /// The name.
    public var debugDescription: String { storage.name }

    public static func == (lhs: NWInterface, rhs: NWInterface) -> Bool {
        lhs.storage === rhs.storage
            || (lhs.index == rhs.index && lhs.type == rhs.type && lhs.name == rhs.name)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(index)
        hasher.combine(name)
    }
}
