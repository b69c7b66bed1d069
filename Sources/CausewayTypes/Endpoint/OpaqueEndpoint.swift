/// An endpoint without a Swift form, equal only to itself.
///
/// On Apple platforms this is an object of the C interface of Network. Here no function makes one: the type exists so
/// that a `switch` over ``NWEndpoint`` has the same cases.
public final class OS_nw_endpoint: Hashable, CustomStringConvertible, CustomDebugStringConvertible, Sendable {
    package init() {}

    public static func == (lhs: OS_nw_endpoint, rhs: OS_nw_endpoint) -> Bool { lhs === rhs }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }

    public var description: String { "opaque endpoint" }

    public var debugDescription: String { description }
}

/// The name by which ``NWEndpoint/opaque(_:)`` and programs refer to an opaque endpoint.
///
/// Counterpart: macOS 10.14, iOS 12.
// swift-format-ignore: TypeNamesShouldBeCapitalized
public typealias nw_endpoint_t = OS_nw_endpoint
