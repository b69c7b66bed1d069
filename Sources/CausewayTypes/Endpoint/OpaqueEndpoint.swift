/// An endpoint without a Swift representation, equal only to itself.
///
/// On Apple platforms this is an object of Network's C interface. This library never creates one: the type exists so that a `switch` over
/// ``NWEndpoint`` has the same cases.
public final class OS_nw_endpoint: Hashable, CustomStringConvertible, CustomDebugStringConvertible, Sendable {
    package init() {}

    /// Whether both values are the same object.
    public static func == (lhs: OS_nw_endpoint, rhs: OS_nw_endpoint) -> Bool { lhs === rhs }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }

    /// Always the same text, because the content of an opaque endpoint cannot be printed.
    public var description: String { "opaque endpoint" }

    /// The same text as ``description``.
    public var debugDescription: String { description }
}

/// Apple's C name for ``OS_nw_endpoint``, the type of the value in ``NWEndpoint/opaque(_:)``.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias nw_endpoint_t = OS_nw_endpoint
