package import CausewayWire

/// Requests over generic netlink. Each call waits some microseconds for the kernel.
extension NetlinkSocket {
    /// Returns the identifier for the generic netlink family `name`.
    ///
    /// - Throws: `ENOENT` if the kernel has no such family.
    package mutating func family(named name: String) throws(SystemError) -> UInt16 {
        let numbers = try ask(.familyNumber(of: name)) { $0.familyNumber }
        guard let number = numbers.first else { throw SystemError(errno: ENOENT, call: "netlink family \(name)") }
        return number
    }

    /// Sends a request and returns the values that `pick` extracts from the replies.
    package mutating func ask<Value>(
        _ request: GenericNetlinkRequest, pick: (GenericNetlinkMessage) -> Value?
    ) throws(SystemError) -> [Value] {
        try list(.generic(request)) { message in
            guard case .generic(let message) = message else { return nil }
            return pick(message)
        }
    }
}
