package import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes

extension NWParameters {
    /// What these parameters mean for a group, frozen at this moment.
    ///
    /// - Throws: `.posix(.ENOTSUP)` for tunnels, descriptors of the program's own and protocols above UDP; `.posix(.EINVAL)` for
    ///   another transport, for a source that is of another family than a group, and for a local port that is not the groups'.
    package func makeGroupPlan(for descriptor: any NWGroupDescriptor) throws(NWError) -> GroupPlan {
        guard let multicast = descriptor as? NWMulticastGroup else { throw .posix(.ENOTSUP) }
        let settings = try makeSocketSettings()
        guard settings.transport == .udp else { throw .posix(.EINVAL) }
        guard defaultProtocolStack.applicationProtocols.isEmpty else { throw .posix(.ENOTSUP) }
        let groups = multicast.members.compactMap(\.address)
        let source = multicast.sourceFilter?.address
        for group in groups {
            // A group of the other family could not hear the source, nor any other host.
            if let source, source.family != group.family { throw .posix(.EINVAL) }
            if let port = settings.localAddress?.port, port != 0, port != group.port { throw .posix(.EINVAL) }
        }
        return GroupPlan(
            groups: groups, source: source, isUnicastDisabled: multicast.isUnicastDisabled,
            settings: FrozenSettings(settings))
    }
}
