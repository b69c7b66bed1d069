internal import CausewayProtocols
internal import CausewayRuntime
internal import CausewaySystem

/// Registers this host's addresses with the kernel's Multipath TCP path manager, as long as this value exists (RFC 8684 §3.2).
///
/// A connection with ``NWParameters/multipathServiceType-swift.property`` has only one subflow until this host's other
/// addresses are registered with the network namespace's path manager. An administrator can add addresses with
/// `ip mptcp endpoint`. A program with the capability `CAP_NET_ADMIN` can register addresses itself; these addresses
/// apply to all connections in the namespace:
///
/// ```swift
/// let endpoints = try MultipathEndpoints(for: .handover)
/// defer { endpoints.cancel() }
/// ```
///
/// The registered addresses follow the network: new addresses are added, and lost addresses are removed. Endpoints
/// registered by other programs are not changed. With the service type
/// ``NWParameters/MultipathServiceType-swift.enum/handover``, networks other than the best network are backups; with
/// the other service types, all networks carry data. The kernel supports at most eight addresses; addresses on the best
/// networks are registered first.
///
/// Can be used from any thread. Apple's framework has no counterpart: on Apple platforms the system decides.
public final class MultipathEndpoints: Sendable {
    private let manager: MultipathEndpointManager

    /// Registers the addresses of interfaces that carry packets, at most one per interface and address family.
    ///
    /// Blocks until the kernel has registered the addresses, which takes less than a millisecond.
    ///
    /// - Parameters:
    ///   - serviceType: How connections use several networks.
    ///   - interfaces: The permitted interfaces, compared by name; `nil` for all.
    /// - Throws: `NWError.posix` with `EPERM` without the capability `CAP_NET_ADMIN`, `ENOENT` if the kernel has no Multipath
    ///   TCP, `EINVAL` if the service is ``NWParameters/MultipathServiceType-swift.enum/disabled`` or the path manager is full.
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

    /// Removes the addresses. Subflows that use them are closed. Each connection continues over its remaining subflows.
    ///
    /// The addresses are also removed when this value is released, and when the process ends with `exit`. They are not
    /// removed when a signal ends the process.
    public func cancel() { manager.cancel() }
}
