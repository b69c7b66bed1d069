package import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes

extension NWParameters {
    /// Returns the configuration of a multicast group, with a copy of these parameters. Later changes to the parameters
    /// do not affect the configuration.
    ///
    /// - Throws: `.posix(.ENOTSUP)` if `descriptor` is not an ``NWMulticastGroup``, or if the stack has protocols above
    ///   UDP. `.posix(.EINVAL)` if the transport is not UDP, or if the source and a group have different address
    ///   families. The same error if a local port is set that differs from the groups' port. Also throws the errors of
    ///   ``makeSocketSettings(usesProxies:)``.
    package func makeGroupPlan(for descriptor: any NWGroupDescriptor) throws(NWError) -> GroupPlan {
        guard let multicast = descriptor as? NWMulticastGroup else { throw .posix(.ENOTSUP) }
        let settings = try makeSocketSettings()
        guard settings.transport == .udp else { throw .posix(.EINVAL) }
        guard defaultProtocolStack.applicationProtocols.isEmpty else { throw .posix(.ENOTSUP) }
        let groups = multicast.members.compactMap(\.address)
        let source = multicast.sourceFilter?.address
        for group in groups {
            // A datagram cannot match a group and a source of different address families. Such a group would receive
            // nothing.
            if let source, source.family != group.family { throw .posix(.EINVAL) }
            if let port = settings.localAddress?.port, port != 0, port != group.port { throw .posix(.EINVAL) }
        }
        return GroupPlan(
            groups: groups, source: source, isUnicastDisabled: multicast.isUnicastDisabled,
            settings: FrozenSettings(settings))
    }
}
