package import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes

extension NWParameters {
    /// Returns a multicast group's configuration, with a copy of these parameters. Later changes to the parameters do
    /// not affect the configuration.
    ///
    /// - Throws: `.posix(.ENOTSUP)` if `descriptor` is not an ``NWMulticastGroup``, and for protocols above UDP.
    ///   `.posix(.EINVAL)` in three cases: the transport is not UDP, the source and a group have different address
    ///   families, or the local port is set and differs from the groups' port. Also the errors of
    ///   ``makeSocketSettings(usesProxies:)``.
    package func makeGroupPlan(for descriptor: any NWGroupDescriptor) throws(NWError) -> GroupPlan {
        guard let multicast = descriptor as? NWMulticastGroup else { throw .posix(.ENOTSUP) }
        let settings = try makeSocketSettings()
        guard settings.transport == .udp else { throw .posix(.EINVAL) }
        guard defaultProtocolStack.applicationProtocols.isEmpty else { throw .posix(.ENOTSUP) }
        let groups = multicast.members.compactMap(\.address)
        let source = multicast.sourceFilter?.address
        for group in groups {
            // A group and a source with different address families would never match, so the group would receive nothing.
            if let source, source.family != group.family { throw .posix(.EINVAL) }
            if let port = settings.localAddress?.port, port != 0, port != group.port { throw .posix(.EINVAL) }
        }
        return GroupPlan(
            groups: groups, source: source, isUnicastDisabled: multicast.isUnicastDisabled,
            settings: FrozenSettings(settings))
    }
}
