internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayTypes

/// What becomes of a connection whose local address has gone.
extension ConnectionDriver {
    /// How long an address may be away while its interface has another one: a client of DHCP that starts again gives the old one
    /// back within that time.
    private static let renumberingLimit = Duration.seconds(2)

    /// Whether the connection's datagrams may leave from another address: to the peer they come from somebody else then. Protocols
    /// above that have a session with the peer would lose it, and so would a proxy that relays them.
    var canMove: Bool {
        guard settings.transport == .udp, settings.localAddress == nil, frozen.makeLayers == nil, frozen.routes.isEmpty,
            frozen.planner == nil, case .connect = progress.withLock({ progress in progress.origin })
        else { return false }
        return flow.addresses?.remote?.isLoopback == false
    }

    /// Datagrams go on over another network; a stream ends, if its address is not given back.
    func leaveLostAddress(in model: NetworkModel, _ follower: PathFollower) {
        if settings.transport == .udp {
            guard follower.hasLostPath(in: model), canMove, move(in: model), let followed else { return }
            follower.moved(to: followed)
        } else if follower.noteRenumbering(in: model) {
            _ = flow.loop.schedule(after: Self.renumberingLimit) { [weak self] in
                // Nothing can arrive at the old address, and the kernel would try for a quarter of an hour.
                if follower.isRenumbered { self?.flow.fail(Failure(errno: Errno.connectionAborted)) }
            }
        }
    }

    /// Returns whether the datagrams have another way now.
    private func move(in model: NetworkModel) -> Bool {
        guard let remote = flow.addresses?.remote, let way = settings.ways(toward: remote, in: model).first else {
            return false
        }
        let isBound = settings.requiredInterface != nil || !way.isKernelChoice
        return flow.withDescriptor { fd in
            do throws(SystemError) {
                try Socket.reconnect(fd, to: remote, over: isBound ? way.interface.name : nil)
                return true
            } catch {
                return false
            }
        } ?? false
    }
}
