package import CausewayWire

/// The kernel's path manager for Multipath TCP, in the network namespace of the thread that opened it.
///
/// Queries need no privilege; changes need the capability `CAP_NET_ADMIN`.
package struct MultipathPathManager: ~Copyable, Sendable {
    private var socket: NetlinkSocket
    private let family: UInt16

    /// - Throws: `ENOENT` if the kernel has no Multipath TCP.
    package init() throws(SystemError) {
        var opened = try NetlinkSocket(generic: ())
        family = try opened.family(named: MultipathEndpoint.familyName)
        socket = opened
    }

    package mutating func endpoints() throws(SystemError) -> [MultipathEndpoint] {
        try socket.ask(.multipathEndpoints(family)) { MultipathEndpoint($0) }
    }

    /// Adds an endpoint.
    ///
    /// - Returns: The endpoint with the identifier assigned by the kernel.
    /// - Throws: `EPERM` without `CAP_NET_ADMIN`; `EEXIST` if the address is already an endpoint; `EINVAL` if the
    ///   kernel already has the maximum number of endpoints.
    package mutating func add(_ endpoint: MultipathEndpoint) throws(SystemError) -> MultipathEndpoint {
        try socket.perform(.generic(.add(endpoint, family)))
        let known = try endpoints().first {
            $0.address.unscoped == endpoint.address.unscoped && $0.interfaceIndex == endpoint.interfaceIndex
        }
        guard let known else { throw SystemError(errno: ENOENT, call: "netlink endpoint") }
        return known
    }

    package mutating func remove(_ endpoint: MultipathEndpoint) throws(SystemError) {
        try socket.perform(.generic(.remove(endpoint, family)))
    }

    /// Changes an existing endpoint's flags.
    package mutating func change(_ endpoint: MultipathEndpoint) throws(SystemError) {
        try socket.perform(.generic(.change(endpoint, family)))
    }

    package mutating func limits() throws(SystemError) -> MultipathLimits {
        guard let limits = try socket.ask(.multipathLimits(family), pick: { MultipathLimits($0) }).first else {
            throw SystemError(errno: EBADMSG, call: "netlink limits")
        }
        return limits
    }

    package mutating func setLimits(_ limits: MultipathLimits) throws(SystemError) {
        try socket.perform(.generic(.set(limits, family)))
    }
}
