internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem

/// Addresses of this host, given to the kernel's path manager for Multipath TCP for as long as this value exists (RFC 8684 §3.2).
///
/// A connection with ``NWParameters/multipathServiceType-swift.property`` has one subflow until the path manager of the network
/// namespace knows of more addresses. An administrator tells it with `ip mptcp endpoint`; a program that is permitted to may do so
/// itself, for itself and for every other connection in the namespace:
///
/// ```swift
/// let endpoints = try MultipathEndpoints(for: .handover)
/// defer { endpoints.cancel() }
/// ```
///
/// It follows the network: addresses that come are added, those that go are taken away. Endpoints that were there before are left
/// alone. With ``NWParameters/MultipathServiceType-swift.enum/handover`` networks besides the best one are a reserve; with the other
/// services all carry content. At most eight addresses are used, those of the best networks first: the kernel has no room for more.
///
/// Not Apple's: there the system decides. Safe to use from any thread.
public final class MultipathEndpoints: Sendable {
    private let manager: MultipathEndpointManager

    /// Gives the addresses of interfaces that carry packets, one of each family and interface.
    ///
    /// Returns when the kernel has them, after less than a millisecond.
    ///
    /// - Parameters:
    ///   - serviceType: What connections are to make of several networks.
    ///   - interfaces: Those that may be used, recognized by their names; `nil` for all.
    /// - Throws: `NWError.posix` with `EPERM` without the capability `CAP_NET_ADMIN`, `ENOENT` where the kernel has no Multipath
    ///   TCP, `EINVAL` where the service is ``NWParameters/MultipathServiceType-swift.enum/disabled`` or the path manager is full.
    public init(
        for serviceType: NWParameters.MultipathServiceType, over interfaces: [NWInterface]? = nil
    ) throws {
        let service: MultipathPlan.Service
        switch serviceType {
        case .disabled: throw NWError.posix(.EINVAL)
        case .handover: service = .handover
        case .interactive, .aggregate: service = .everything
        }
        do throws(SystemError) {
            manager = try MultipathEndpointManager(
                MultipathPlan(service, interfaces: interfaces.map { Set($0.map(\.name)) }))
        } catch {
            throw NWError(errno: error.errno)
        }
    }

    /// Takes the addresses back. Subflows that came of them are closed; connections go on over those that are left.
    ///
    /// It also happens when the value is released and when the process ends by `exit`; not when a signal ends it.
    public func cancel() { manager.cancel() }
}
