/// A message bus socket address (D-Bus Specification, "Server Addresses").
package enum DBusAddress: Hashable, Sendable {
    /// A socket with a path in the file system.
    case path(String)
    /// A socket in Linux's abstract socket namespace.
    case abstract(String)

    /// The environment variable for the system bus address.
    package static let variable = "DBUS_SYSTEM_BUS_ADDRESS"
    /// The default system bus address.
    package static let system = DBusAddress.path("/run/dbus/system_bus_socket")

    /// The environment variable for the session bus address.
    package static let sessionVariable = "DBUS_SESSION_BUS_ADDRESS"

    /// Parses the Unix domain sockets in a list such as `unix:path=/run/bus;unix:abstract=bus`, in order. Ignores other transports.
    package static func list(_ text: String) -> [DBusAddress] {
        text.split(separator: ";").compactMap { entry in
            let halves = entry.split(separator: ":", maxSplits: 1)
            guard halves.count == 2, halves[0] == "unix" else { return nil }
            for pair in halves[1].split(separator: ",") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, let value = unescaped(parts[1].utf8), !value.isEmpty else { continue }
                if parts[0] == "path" { return .path(value) }
                if parts[0] == "abstract" { return .abstract(value) }
            }
            return nil
        }
    }

    /// Decodes `%XX` escapes. Returns `nil` if an escape is malformed, or if the result is not UTF-8 or has a zero
    /// byte.
    private static func unescaped(_ text: Substring.UTF8View) -> String? {
        guard let bytes = PercentCoding.bytes(text), !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
