internal import CausewayPackets
internal import CausewaySystem

/// The reason why a capture could not start or continue.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A kind of capture error.
    public enum Code: Hashable, Sendable {
        /// The process lacks `CAP_NET_RAW`.
        case notPermitted
        /// No interface has the given name.
        case noSuchInterface
        /// The interface has an unsupported link type.
        case unsupportedLink
        /// The filter expression is invalid.
        case badFilter
        /// A system call failed, or the interface was removed.
        case system
    }

    /// The kind of error.
    public var code: Code
    /// A human-readable description.
    public var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    init(_ what: String, _ error: SystemError) {
        if error.errno == Errno.notPermitted {
            self.init(
                .notPermitted,
                "capturing requires the capability CAP_NET_RAW: run as root, or run once: setcap cap_net_raw,cap_net_admin=ep \(CommandLine.arguments.first ?? "the program")"
            )
        } else {
            self.init(.system, "\(what): \(error)")
        }
    }
}
